import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ConfigMap, Stack } from "@pulumi/pulumi/automation";
import type { Client } from "../../client/client";
import { connect } from "../../client/connect";
import { readSettings, relativeToProgram, type Settings } from "../../client/settings";
import { openAutomationStack } from "./automation-stack";
import { openWorkspace, stackNames } from "./workspace";

/** Name of a stack and directory of its project. */
export interface StackLocation {
  /** Directory of the project. */
  readonly cwd: string;
  readonly stack: string;
  /** Environment variables for the engine, in addition to the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The fields of a state entry that commands use. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly provider?: string;
  readonly custom?: boolean;
  readonly external?: boolean;
  /** Whether the resource was replaced and waits for its deletion. */
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
}

/** Access to a stack through the engine. Does not change which stack the user has selected. */
export class OpenStack {
  #config: Promise<ConfigMap> | undefined;

  private constructor(
    readonly location: StackLocation,
    readonly stack: Stack,
    readonly project: string,
    /** The language of the program: `runtime` in Pulumi.yaml. */
    readonly runtime: string,
    /** The program's working directory, which its relative paths start from. */
    readonly programDirectory: string,
  ) {}

  /** Opens a stack with the engine on PATH. */
  static async open(location: StackLocation): Promise<OpenStack> {
    if (location.stack === "")
      throw new Error("--stack needs the name of a stack. `pulumi stack ls` lists them.");
    const workDir = resolve(location.cwd);
    return withStackError(location, async () => {
      const workspace = await openWorkspace(workDir, location.env);
      const { name, main, runtime } = await workspace.projectSettings();
      const language = typeof runtime === "string" ? runtime : runtime.name;
      const stack = await openAutomationStack(location.stack, workspace);
      return new OpenStack(location, stack, name, language, programDirectory(workDir, main));
    });
  }

  /** Opens the same stack with more environment variables for the engine. */
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
    const exported = await withStackError(this.location, () => this.stack.exportStack());
    const { resources = [] } = (exported.deployment ?? {}) as { resources?: StateResource[] };
    return { resources };
  }

  /** Returns a reader of the configuration under `recommender:`, with secrets in plain text. Never print them. */
  async config(): Promise<(key: string) => string | undefined> {
    return readerOf(await this.allConfig());
  }

  /** Returns the whole configuration. It is read only once, because each read starts the engine. */
  allConfig(): Promise<ConfigMap> {
    this.#config ??= withStackError(this.location, () => this.stack.getAllConfig());
    return this.#config;
  }

  /** Connects to the service that the stack's configuration selects. Reads the configuration unless it is given. */
  async connect(config?: ConfigMap): Promise<Client> {
    const settings = readSettings(readerOf(config ?? (await this.allConfig())), this.environment);
    return connect(relativeToProgram(settings, this.programDirectory));
  }

  /** Runs `work` with a client for the stack's service, or for the service in `settings`. */
  async withClient<T>(work: (client: Client) => Promise<T>, settings?: Settings): Promise<T> {
    const client = await (settings ? connect(settings) : this.connect());
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }
}

/** Returns the name of the stack that the user has selected in a project. */
export async function selectedStack(cwd: string): Promise<string> {
  const workspace = await openWorkspace(resolve(cwd));
  const current = (await workspace.listStacks()).find((stack) => stack.current);
  if (!current)
    throw new Error("No stack is selected. Choose one with --stack; `pulumi stack ls` lists them.");
  return current.name;
}

/** Returns an error that lists the existing stacks if the engine did not find the stack, otherwise undefined. */
export async function unknownStackError(
  { stack, cwd }: StackLocation,
  error: unknown,
): Promise<Error | undefined> {
  if (!(error instanceof Error) || !/no stack named/.test(`${error.name} ${error.message}`)) return undefined;
  const names = await stackNames(cwd);
  const known = names.length > 0 ? `Existing stacks: ${names.join(", ")}` : "The project has no stacks";
  return new Error(`Stack ${stack} does not exist. ${known}. Create it with \`pulumi stack init ${stack}\`.`);
}

async function withStackError<T>(location: StackLocation, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = `Stack ${location.stack}: ${engineReason(error as Error)}`;
    throw (await unknownStackError(location, error)) ?? new Error(message, { cause: error });
  }
}

/** Returns the engine's own message, without the text that the Automation API adds. */
function engineReason({ message }: Error): string {
  if (/ENOENT.*pulumi|spawn pulumi|pulumi: not found/i.test(message)) {
    return (
      "`pulumi` is not on PATH. Install the Pulumi engine, or add its directory to PATH. " +
      "In a clone of pulumi-recommender, `npm run recommender -- …` does this."
    );
  }
  const [text = ""] = message.split(/\n\s*err\?:/);
  return (/^error: ([\s\S]*)/m.exec(text)?.[1] ?? text).trim();
}

function readerOf(config: ConfigMap): (key: string) => string | undefined {
  return (key) => config[`recommender:${key}`]?.value;
}

/** Returns the directory in which the engine runs the program. `main` in Pulumi.yaml is a file or a directory. */
function programDirectory(root: string, main: string | undefined): string {
  if (!main) return root;
  const path = resolve(root, main);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : dirname(path);
}
