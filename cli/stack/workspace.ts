import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation";

/** Lists the stacks of the project that contains a directory. Empty if there is no project or no engine. */
export async function stackNames(cwd: string): Promise<string[]> {
  let directory = resolve(cwd);
  while (!isProject(directory) && dirname(directory) !== directory) directory = dirname(directory);
  if (!isProject(directory)) return [];
  try {
    return (await (await openWorkspace(directory)).listStacks()).map((stack) => stack.name);
  } catch {
    return [];
  }
}

/** Opens a project directory with the engine on PATH. */
export async function openWorkspace(
  workDir: string,
  envVars: Readonly<Record<string, string>> = {},
): Promise<LocalWorkspace> {
  const { LocalWorkspace, PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  // `get` starts the engine to read its version. Once is enough for all stacks.
  engine ??= await PulumiCommand.get();
  return LocalWorkspace.create({ workDir, envVars: { ...envVars }, pulumiCommand: engine });
}

let engine: PulumiCommand | undefined;

function isProject(directory: string): boolean {
  return ["Pulumi.yaml", "Pulumi.yml"].some((file) => existsSync(join(directory, file)));
}
