import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Deployment, OutputMap, Stack, UpdateSummary } from "@pulumi/pulumi/automation";

/** The engine's mark of a secret in a state. */
const secretMark = "4dabf18193072939515e22adb298388d";

/**
 * Lets a stack read its state, its outputs and its last update where the engine keeps them. The Automation API starts
 * the engine three more times after each update to ask for just that, which would be a quarter of what all these tests
 * take.
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
