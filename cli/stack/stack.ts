import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A resource of ours in the state of a stack. */
export interface StackResource {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** What a command reads of a stack: its configuration, and what it holds. */
export interface StackView {
  readonly name: string;
  /** The folder that relative paths of the program start from. */
  readonly programFolder: string;
  readonly resources: readonly StackResource[];
  config(key: string): string | undefined;
}

const typePrefix = "pulumi-nodejs:dynamic/recommender:";

interface Exported {
  readonly resources?: readonly {
    readonly urn: string;
    readonly type: string;
    readonly id?: string;
    readonly delete?: boolean;
    readonly outputs?: Readonly<Record<string, unknown>>;
  }[];
}

/** Reads a stack without selecting it or changing anything. */
export async function readStack(name: string, cwd = "."): Promise<StackView> {
  const { LocalWorkspace } = await import("@pulumi/pulumi/automation/index.js");
  try {
    const workspace = await LocalWorkspace.create({ workDir: resolve(cwd) });
    const [{ main }, config, { deployment }] = await Promise.all([
      workspace.projectSettings(),
      workspace.getAllConfig(name),
      workspace.exportStack(name),
    ]);
    return {
      name,
      programFolder: programFolder(resolve(cwd), main),
      resources: ours(deployment as Exported | null),
      config: (key) => config[`recommender:${key}`]?.value,
    };
  } catch (error) {
    if (isUnknownStack(error)) throw await unknownStack(name, cwd);
    throw new Error(`--stack ${name}: ${reason(error as Error)}`, { cause: error });
  }
}

/** Whether the engine says that there is no stack of that name. */
export function isUnknownStack(error: unknown): boolean {
  return error instanceof Error && /no stack named/.test(`${error.name} ${error.message}`);
}

/** Says that there is no such stack, and which there are. */
export async function unknownStack(name: string, cwd: string): Promise<Error> {
  const names = await stackNames(cwd);
  const there = names.length > 0 ? `there are ${names.join(", ")}` : "the project has none yet";
  return new Error(`There is no stack ${name}; ${there}. \`pulumi stack init ${name}\` makes it.`);
}

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

/** Where a program runs, as the engine decides it: the folder of `main`, which may be a file or a folder. */
export function programFolder(root: string, main: string | undefined): string {
  if (!main) return root;
  const path = resolve(root, main);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
}

function ours(deployment: Exported | null): StackResource[] {
  return (deployment?.resources ?? [])
    .filter(({ type, id, delete: going }) => type.startsWith(typePrefix) && id && !going)
    .map(({ type, urn, id = "", outputs = {} }) => ({
      type: type.slice(typePrefix.length),
      name: urn.split("::").slice(3).join("::"),
      id,
      outputs,
    }));
}

/** The engine's own words without the frame that the Automation API puts around them. */
function reason({ message }: Error): string {
  if (/ENOENT.*pulumi|spawn pulumi|pulumi: not found/i.test(message)) {
    return (
      "there is no `pulumi` on the PATH to read it with. Put the folder of one there; " +
      "in a clone of pulumi-recommender, `npm run recommender -- …` does."
    );
  }
  const [said = ""] = message.split(/\n\s*err\?:/);
  return (/^error: ([\s\S]*)/m.exec(said)?.[1] ?? said).trim();
}
