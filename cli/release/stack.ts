import { resolve } from "node:path";
import { type ConfigMap, LocalWorkspace, Stack } from "@pulumi/pulumi/automation";
import type { Client } from "../../client/client";
import { connectToService } from "../drift/unmanaged";
import type { StackOf } from "../stack/engine";
import { isUnknownStack, programFolder, unknownStack } from "../stack/stack";
import type { StackResource } from "./contents";

/** The state of a stack, as far as it is of use here. */
export interface State {
  readonly resources: readonly StackResource[];
  /** What the engine was doing when it was killed. */
  readonly pending: readonly { readonly urn: string; readonly type: string }[];
}

/** A stack that commands work on, without becoming the one that is selected. */
export class OpenStack {
  #config: Promise<ConfigMap> | undefined;

  private constructor(
    readonly of: StackOf,
    readonly stack: Stack,
    readonly project: string,
    private readonly programFolder: string,
  ) {}

  static async open(of: StackOf): Promise<OpenStack> {
    const workDir = resolve(of.cwd);
    const workspace = await LocalWorkspace.create({ workDir, ...(of.env && { envVars: { ...of.env } }) });
    // Selecting would change the stack that the user's own commands work on.
    workspace.selectStack = async () => {};
    const { name, main } = await workspace.projectSettings();
    const stack = await Stack.select(of.stack, workspace);
    return new OpenStack(of, stack, name, programFolder(workDir, main));
  }

  get name(): string {
    return this.of.stack;
  }

  get engineVersion(): string {
    return this.stack.workspace.pulumiVersion;
  }

  async state(): Promise<State> {
    const exported = await this.#asked(this.stack.exportStack());
    const deployment = (exported.deployment ?? {}) as {
      resources?: StackResource[];
      pending_operations?: { resource: { urn: string; type: string } }[];
    };
    const pending = (deployment.pending_operations ?? []).map(({ resource }) => resource);
    return { resources: deployment.resources ?? [], pending };
  }

  /** The configuration of the stack with its secrets in the clear: never to be shown. */
  async config(): Promise<(key: string) => string | undefined> {
    const all = await this.#allConfig();
    return (key) => all[`recommender:${key}`]?.value;
  }

  /** Calls something with a client of the stack's service. */
  async withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const config = await this.#allConfig();
    const environment = { ...process.env, ...this.of.env };
    const { client } = await connectToService(config, this.programFolder, environment);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  }

  /** Each question to the engine is a process of its own: this one is asked once. */
  #allConfig(): Promise<ConfigMap> {
    this.#config ??= this.#asked(this.stack.getAllConfig());
    return this.#config;
  }

  #asked<T>(question: Promise<T>): Promise<T> {
    return question.catch(async (error) => {
      throw isUnknownStack(error) ? await unknownStack(this.name, this.of.cwd) : error;
    });
  }
}
