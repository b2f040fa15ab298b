import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Client } from "../../client/client";
import type { Settings } from "../../client/settings";
import { note, type OutputOptions } from "../terminal/output";
import { readStack, type StackView } from "./view";
import { stackNames } from "./workspace";

/** The options of every command that calls the service. */
export interface ServiceOptions extends OutputOptions {
  readonly service?: string;
  readonly stack?: string;
  readonly provider?: string;
  readonly cwd?: string;
}

/** The service that a command works on. */
export interface OpenService {
  readonly client: Client;
  readonly settings: Settings;
  readonly stack: StackView | undefined;
  /** The id of a thing that was named by its id or, with a stack, by its name in it, or left out where there is one. */
  resolveId(types: string | readonly string[], given: string | undefined, what: string): string;
}

/** Under which help shows the options that all commands of the service share. */
export const serviceGroup = "Which service:";

/** Adds the options that say which service is meant, and `--json`. */
export function withService(command: Command): Command {
  const option = (flags: string, description: string) =>
    new Option(flags, description).helpGroup(serviceGroup);
  return command
    .addOption(option("--service <url>", "the service, or embedded:DIR"))
    .addOption(option("--stack <name>", "Pulumi stack to take service, credentials and ids from"))
    .addOption(option("--provider <name>", "provider of the stack's program, if it declares several"))
    .addOption(option("--cwd <dir>", "folder of the stack's project"))
    .addOption(option("--json", "print the outcome as one line of JSON"));
}

/** Reads the configuration of a command: the environment, and the stack where one is named. */
export async function settingsOf(
  options: ServiceOptions,
): Promise<{ settings: Settings; stack: StackView | undefined; environment: NodeJS.ProcessEnv }> {
  const { relativeToProgram, defaultBaseUrl, environmentWithout, isSameAddress, readSettings } = await import(
    "../../client/settings.js"
  );
  if (options.cwd !== undefined && options.stack === undefined)
    throw new Error("--cwd names the folder of a stack's project: give --stack too.");
  if (options.provider !== undefined && options.stack === undefined)
    throw new Error("--provider names a provider of a stack's program: give --stack too.");
  const whole = options.stack === undefined ? undefined : await readStack(options.stack, options.cwd);
  const provider = whole && providerIn(whole, options);
  const stack = whole && {
    ...whole,
    resources: whole.resources.filter((one) => options.service !== undefined || one.provider === provider),
  };
  const [ofProvider] = provider === undefined ? [] : (stack?.resources ?? []);
  if (whole && ofProvider) {
    const settings = whole.settingsOf(ofProvider);
    if (settings) return { settings, ...{ stack, environment: process.env } };
  }
  const { service } = options;
  const { RECOMMENDER_BASE_URL: other } = process.env;
  // Credentials beside another address in the environment were set for that address.
  const own =
    service && other && !isSameAddress(service, other)
      ? environmentWithout(["baseUrl"], process.env)
      : process.env;
  const environment = service ? { ...own, RECOMMENDER_BASE_URL: service } : process.env;
  // Without a stack, a command works with the service of this folder wherever it runs.
  const config = stack?.config ?? ((key: string) => (key === "baseUrl" ? defaultBaseUrl : undefined));
  const settings = readSettings(config, environment, service ? "--service" : undefined);
  // The provider's folder is that of the program, wherever the command is run.
  const isOfStack = stack !== undefined && options.service === undefined;
  return {
    settings: isOfStack ? relativeToProgram(settings, stack.programDirectory) : settings,
    ...{ stack, environment },
  };
}

/** The provider of the program that is meant; undefined for the configuration of the stack. */
function providerIn(
  { name, resources }: StackView,
  { provider, service }: ServiceOptions,
): string | undefined {
  const providers = [...new Set(resources.map((resource) => resource.provider))];
  const declared = providers.filter((one) => one !== undefined);
  if (provider !== undefined && !declared.includes(provider)) {
    const known = declared.join(", ") || "none";
    throw new Error(
      `--provider ${provider}: no resource of stack ${name} has this provider. Known: ${known}.`,
    );
  }
  if (provider !== undefined || service !== undefined || providers.includes(undefined)) return provider;
  if (declared.length <= 1) return declared[0];
  throw new Error(`Stack ${name} has several providers: choose one with --provider: ${declared.join(", ")}.`);
}

/** The command that shows which service and credentials a command with these options uses. */
export function whoamiCommand({ service, stack, cwd, provider }: ServiceOptions): string {
  const options = { service, stack, cwd, provider };
  const given = Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  return ["recommender whoami", ...given].join(" ");
}

/** Does something with the service and closes the connections to it, whatever comes of it. */
export async function usingService<T>(
  options: ServiceOptions,
  work: (opened: OpenService) => Promise<T>,
): Promise<T> {
  const { settings, stack } = await settingsOf(options);
  await assertServiceExists(settings, options);
  const { connect } = await import("../../client/connect.js");
  const client = await connect(settings, { onWait: note, whoami: whoamiCommand(options) });
  try {
    return await work({ client, settings, stack, resolveId: idResolver(stack) });
  } finally {
    await client.close();
  }
}

/** Only a program and `recommender serve` make a service: of an empty one there is nothing to ask. */
export async function assertServiceExists({ baseUrl }: Settings, { stack }: ServiceOptions): Promise<void> {
  const { embeddedDirectory } = await import("../../client/settings.js");
  const dir = embeddedDirectory(baseUrl);
  if (dir === undefined) return;
  const { existing } = await import("../../service/embedded.js");
  if (await existing(dir)) return;
  const none = `There is no embedded service in ${resolve(dir)}, and none is started only to be asked.`;
  if (stack !== undefined)
    throw new Error(`${none} \`pulumi up --stack ${stack}\` makes the one of the stack.`);
  const names = await stackNames(".");
  if (names.length > 0)
    throw new Error(`${none} Name one of the stacks of this project with --stack: ${names.join(", ")}.`);
  throw new Error(
    `${none} Name a stack with --stack or a service with --service, or start one with \`recommender serve\`.`,
  );
}

function idResolver(stack: StackView | undefined): OpenService["resolveId"] {
  return (types, given, what) => {
    const wanted = [types].flat();
    if (!stack) {
      if (given !== undefined) return given;
      throw new Error(`${what} is missing: give its id, or --stack NAME to take it from a Pulumi stack.`);
    }
    const noun = wanted.join(" or ");
    const there = stack.resources.filter(({ type }) => wanted.includes(type));
    const names = there.map(({ name }) => name).join(", ") || "none";
    if (given === undefined) {
      const [only, ...others] = there;
      if (only && others.length === 0) return only.id;
      const why = only ? "several" : "no";
      throw new Error(`${what} is missing: stack ${stack.name} has ${why} ${noun} (${names}).`);
    }
    const found = there.filter(({ name }) => name === given);
    if (found.length > 1) throw new Error(`${what} ${given}: stack ${stack.name} has several of this name.`);
    if (found[0]) return found[0].id;
    if (!there.some(({ id }) => id === given))
      note(`${given} is no ${noun} of stack ${stack.name} (${names}); it is taken as an id.`);
    return given;
  };
}
