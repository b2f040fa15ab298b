import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation";

/** The stacks of the project that a folder is in; none where it is in none, or the engine cannot list them. */
export async function stackNames(cwd: string): Promise<string[]> {
  let folder = resolve(cwd);
  while (!isProject(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!isProject(folder)) return [];
  try {
    return (await (await workspaceOf(folder)).listStacks()).map((stack) => stack.name);
  } catch {
    return [];
  }
}

/** A project folder as the engine on PATH sees it. */
export async function workspaceOf(
  workDir: string,
  envVars: Readonly<Record<string, string>> = {},
): Promise<LocalWorkspace> {
  const { LocalWorkspace, PulumiCommand } = await import("@pulumi/pulumi/automation/index.js");
  // Its version is asked for once, not for each stack.
  engine ??= await PulumiCommand.get();
  return LocalWorkspace.create({ workDir, envVars: { ...envVars }, pulumiCommand: engine });
}

let engine: PulumiCommand | undefined;

function isProject(folder: string): boolean {
  return ["Pulumi.yaml", "Pulumi.yml"].some((file) => existsSync(join(folder, file)));
}
