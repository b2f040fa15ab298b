import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type ConfigMap, type LocalWorkspace, Stack } from "@pulumi/pulumi/automation";
import type { Client } from "../../client/client";
import { connect } from "../../client/connect";
import { readSettings, relativeToProgram, type Settings } from "../../client/settings";
import { stackNames, workspaceOf } from "./workspace";

/** A stack of a project folder. */
export interface StackLocation {
  /** Folder of the project. */
  readonly cwd: string;
  readonly stack: string;
  /** Variables for the engine, over those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A resource as the state keeps it, as far as commands need it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly provider?: string;
  readonly custom?: boolean;
  readonly external?: boolean;
  /** It was replaced, and is still to be deleted. */
  readonly delete?: boolean;
  readonly retainOnDelete?: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly dependencies?: readonly string[];
  readonly propertyDependencies?: Readonly<Record<string, readonly string[] | null>>;
  readonly stackTrace?: readonly { readonly sourcePosition?: string }[];
}

/** The state of a stack. */
export interface State {
  readonly resources: readonly StateResource[];
  /** What the engine was doing when it was killed. */
  readonly pending: readonly { readonly urn: string }[];
}

/** A stack that commands work on, without becoming the one that is selected. */
export class OpenStack {
  #config: Promise<ConfigMap> | undefined;

  private constructor(
    readonly location: StackLocation,
    readonly stack: Stack,
    readonly project: string,
    /** The language of the program, as the project calls it. */
    readonly runtime: string,
    /** The folder that relative paths of the program start from. */
    readonly programDirectory: string,
  ) {}

  /** Opens a stack through the engine that is on PATH. */
  static async open(of: StackLocation): Promise<OpenStack> {
    if (of.stack === "") throw new Error("--stack needs the name of a stack; see `pulumi stack ls`.");
    const workDir = resolve(of.cwd);
    return asked(of, async () => {
      const workspace = await workspaceOf(workDir, of.env);
      const { name, main, runtime } = await workspace.projectSettings();
      const language = typeof runtime === "string" ? runtime : runtime.name;
      const stack = await quietStack(of.stack, workspace);
      return new OpenStack(of, stack, name, language, programDirectory(workDir, main));
    });
  }

  /** The same stack, with more variables for the engine. */
  async withEnvironment(env: Readonly<Record<string, string>>): Promise<OpenStack> {
    const other = await OpenStack.open({ ...this.location, env: { ...this.location.env, ...env } });
    other.#config = this.allConfig();
    return other;
  }

  get name(): string {
    return this.location.stack;
  }

  get engineVersion(): string {
    return this.stack.workspace.pulumiVersion;
  }

  get environment(): NodeJS.ProcessEnv {
    return { ...process.env, ...this.location.env };
  }

  async state(): Promise<State> {
    const exported = await asked(this.location, () => this.stack.exportStack());
    const deployment = (exported.deployment ?? {}) as {
      resources?: StateResource[];
      pending_operations?: { resource: { urn: string } }[];
    };
    const pending = (deployment.pending_operations ?? []).map(({ resource }) => resource);
    return { resources: deployment.resources ?? [], pending };
  }

  /** The configuration of the stack with its secrets in the clear: never to be shown. */
  async config(): Promise<(key: string) => string | undefined> {
    return readerOf(await this.allConfig());
  }

  /** Each question to the engine is a process of its own: this one is asked once. */
  allConfig(): Promise<ConfigMap> {
    this.#config ??= asked(this.location, () => this.stack.getAllConfig());
    return this.#config;
  }

  /** Connects to the service of the stack, as its program does; the configuration is given where it is known. */
  async connect(config?: ConfigMap): Promise<Client> {
    const settings = readSettings(readerOf(config ?? (await this.allConfig())), this.environment);
    return connect(relativeToProgram(settings, this.programDirectory));
  }

  /** Calls something with a client of the stack's service, or of the one that the given settings name. */
  async withClient<T>(work: (client: Client) => Promise<T>, settings?: Settings): Promise<T> {
    const client = await (settings ? connect(settings) : this.connect());
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }
}

/** The stack that is selected in a folder. */
export async function selectedStack(cwd: string): Promise<string> {
  const workspace = await workspaceOf(resolve(cwd));
  const current = (await workspace.listStacks()).find((stack) => stack.current);
  if (!current) throw new Error("No stack is selected; name one with --stack, or see `pulumi stack ls`.");
  return current.name;
}

/** Says that there is no such stack, and which there are, where that is why the engine refused. */
export async function unknownStackError(
  { stack, cwd }: StackLocation,
  error: unknown,
): Promise<Error | undefined> {
  if (!(error instanceof Error) || !/no stack named/.test(`${error.name} ${error.message}`)) return undefined;
  const names = await stackNames(cwd);
  const there = names.length > 0 ? `there are ${names.join(", ")}` : "the project has none yet";
  return new Error(`There is no stack ${stack}; ${there}. \`pulumi stack init ${stack}\` makes it.`);
}

/** A stack that asks the engine for nothing that no command needs: each question is a process of its own. */
async function quietStack(name: string, workspace: LocalWorkspace): Promise<Stack> {
  // Selecting would change the stack that the user's own commands work on.
  workspace.selectStack = async () => {};
  const stack = await Stack.select(name, workspace);
  // After each update the Automation API asks for the outputs, twice, and for the history.
  stack.outputs = async () => ({});
  stack.info = async () => undefined;
  return stack;
}

async function asked<T>(of: StackLocation, question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (error) {
    const refusal = `Stack ${of.stack}: ${reason(error as Error)}`;
    throw (await unknownStackError(of, error)) ?? new Error(refusal, { cause: error });
  }
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

function readerOf(config: ConfigMap): (key: string) => string | undefined {
  return (key) => config[`recommender:${key}`]?.value;
}

/** Where a program runs, as the engine decides it: the folder of `main`, which may be a file or a folder. */
function programDirectory(root: string, main: string | undefined): string {
  if (!main) return root;
  const path = resolve(root, main);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
}
