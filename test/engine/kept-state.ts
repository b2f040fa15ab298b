import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Deployment, OutputMap, Stack, UpdateSummary } from "@pulumi/pulumi/automation";

/** Marker of a secret in the engine's state. */
const secretMark = "4dabf18193072939515e22adb298388d";

/**
 * Makes a stack read its state, outputs and last update directly from the backend. The Automation API starts
 * the engine three more times after each update to read them, which would take a quarter of the time of these
 * tests.
 */
export function readKeptState(stack: Stack, directory: string): void {
  const ask = stack.outputs.bind(stack);
  stack.exportStack = async (): Promise<Deployment> => {
    const [file] = await filesIn(join(directory, ".pulumi/stacks"), `/${stack.name}.json`);
    const { version, checkpoint } = JSON.parse(await readFile(file, "utf8"));
    return { version, deployment: checkpoint.latest ?? {} };
  };
  stack.outputs = async () => {
    const { deployment } = await stack.exportStack();
    const outputs = outputsIn(deployment.resources ?? []);
    return JSON.stringify(outputs).includes(secretMark) ? ask() : outputs;
  };
  stack.info = async () => {
    const updates = await filesIn(join(directory, ".pulumi/history"), ".history.json");
    const last = updates.filter((file) => file.includes(`/${stack.name}-`)).at(-1);
    return last ? (JSON.parse(await readFile(last, "utf8")) as UpdateSummary) : undefined;
  };
}

function outputsIn(resources: { type: string; outputs?: Record<string, unknown> }[]): OutputMap {
  const root = resources.find(({ type }) => type === "pulumi:pulumi:Stack");
  const named = Object.entries(root?.outputs ?? {});
  return Object.fromEntries(named.map(([name, value]) => [name, { value, secret: false }]));
}

async function filesIn(directory: string, ending: string): Promise<string[]> {
  const files = await readdir(directory, { recursive: true });
  return files
    .filter((file) => file.endsWith(ending))
    .sort()
    .map((file) => join(directory, file));
}
