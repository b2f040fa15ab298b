import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The stacks of the project that a folder is in; none where it is in none, or the engine cannot list them. */
export async function stackNames(cwd: string): Promise<string[]> {
  let folder = resolve(cwd);
  while (!isProject(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!isProject(folder)) return [];
  const { LocalWorkspace } = await import("@pulumi/pulumi/automation/index.js");
  try {
    const workspace = await LocalWorkspace.create({ workDir: folder });
    return (await workspace.listStacks()).map((stack) => stack.name);
  } catch {
    return [];
  }
}

function isProject(folder: string): boolean {
  return ["Pulumi.yaml", "Pulumi.yml"].some((file) => existsSync(join(folder, file)));
}
