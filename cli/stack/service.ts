import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Client } from "../../client/client";
import type { Settings } from "../../client/settings";
import { note, type OutputOptions } from "../terminal/output";
import { shellQuote } from "./flags";
import { readStack, type StackView } from "./view";
import { stackNames } from "./workspace";

/** Options of all commands that call the service. */
export interface ServiceOptions extends OutputOptions {
  readonly service?: string;
  readonly stack?: string;
  readonly provider?: string;
  readonly cwd?: string;
}

/** Connection to the service that a command works on. */
export interface OpenService {
  readonly client: Client;
  readonly settings: Settings;
  readonly stack: StackView | undefined;
  /**
   * Returns the id of an object. With `--stack`, `given` may also be its logical name, or undefined if the stack has
   * only one object of these types. Errors mention `option`.
   */
  resolveId(types: string | readonly string[], given: string | undefined, option: string): string;
}

/** Heading in the help for the options that all service commands share. */
export const serviceGroup = "Which service:";

/** Adds a command that calls a service, with the options that select the service, and `--json`. */
export function serviceCommand(parent: Command, usage: string, description: string, help: string): Command {
  const option = (flags: string, description: string) =>
    new Option(flags, description).helpGroup(serviceGroup);
  return parent
    .command(usage)
    .description(description)
    .addHelpText("after", help)
    .addOption(option("--service <url>", "the service, or embedded:DIR"))
    .addOption(option("--stack <name>", "Pulumi stack with the service, its credentials and ids"))
    .addOption(option("--provider <name>", "provider in the program, if it declares several"))
    .addOption(option("--cwd <dir>", "project directory of the stack"))
    .addOption(option("--json", "print the outcome as one line of JSON"));
}

/** Reads the settings of a command from the environment and, with `--stack`, from the stack. */
export async function settingsOf(
  options: ServiceOptions,
): Promise<{ settings: Settings; stack: StackView | undefined; environment: NodeJS.ProcessEnv }> {
  const { relativeToProgram, defaultBaseUrl, environmentWithout, readSettings } = await import(
    "../../client/settings.js"
  );
  const { isSameAddress } = await import("../../client/address.js");
  if (options.cwd !== undefined && options.stack === undefined)
    throw new Error("--cwd sets the project directory of a stack. Pass --stack too.");
  if (options.provider !== undefined && options.stack === undefined)
    throw new Error("--provider selects a provider in the program of a stack. Pass --stack too.");
  const wholeStack = options.stack === undefined ? undefined : await readStack(options.stack, options.cwd);
  const provider = wholeStack && chooseProvider(wholeStack, options);
  const stack = wholeStack && {
    ...wholeStack,
    resources: wholeStack.resources.filter(
      (one) => options.service !== undefined || one.provider === provider,
    ),
  };
  const [providerResource] = provider === undefined ? [] : (stack?.resources ?? []);
  const providerSettings = providerResource && wholeStack?.settingsOf(providerResource);
  if (providerSettings) return { settings: providerSettings, stack, environment: process.env };
  const { service } = options;
  const { RECOMMENDER_BASE_URL: configured } = process.env;
  // Credentials in the environment are for the address in the environment. Never send them to another address.
  const usable =
    service && configured && !isSameAddress(service, configured)
      ? environmentWithout(["baseUrl"], process.env)
      : process.env;
  const environment = service ? { ...usable, RECOMMENDER_BASE_URL: service } : process.env;
  // Without a stack, the default is the embedded service of the current directory, also on a CI runner.
  const config = stack?.config ?? ((key: string) => (key === "baseUrl" ? defaultBaseUrl : undefined));
  const settings = readSettings(config, environment, service ? "--service" : undefined);
  // `embedded:DIR` in a stack is relative to the program, not to the current directory.
  const isFromStack = stack !== undefined && options.service === undefined;
  return {
    settings: isFromStack ? relativeToProgram(settings, stack.programDirectory) : settings,
    stack,
    environment,
  };
}

/** Returns the name of the explicit provider to use, or undefined if the stack's configuration applies. */
function chooseProvider(
  { name, resources }: StackView,
  { provider, service }: ServiceOptions,
): string | undefined {
  const providers = [...new Set(resources.map((resource) => resource.provider))];
  const declared = providers.filter((one) => one !== undefined);
  if (provider !== undefined && !declared.includes(provider)) {
    const known = declared.join(", ") || "none";
    throw new Error(`--provider ${provider}: no resource of stack ${name} uses it. Known: ${known}.`);
  }
  if (provider !== undefined || service !== undefined || providers.includes(undefined)) return provider;
  if (declared.length <= 1) return declared[0];
  throw new Error(`Stack ${name} has several providers. Choose one with --provider: ${declared.join(", ")}.`);
}

/** Returns the options that select the same service in another command, with a leading space. */
export function serviceFlags({ service, stack, cwd, provider }: ServiceOptions): string {
  return Object.entries({ service, stack, cwd, provider })
    .flatMap(([name, value]) => (value ? [` --${name} ${shellQuote(value)}`] : []))
    .join("");
}

/** Returns the command that shows the service and the credentials that these options select. */
export function whoamiCommand(options: ServiceOptions): string {
  return `recommender whoami${serviceFlags(options)}`;
}

/** Connects to the service, runs `work` and closes the connections. */
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

/** Throws if the embedded service does not exist. Only a program and `recommender serve` create one. */
export async function assertServiceExists({ baseUrl }: Settings, { stack }: ServiceOptions): Promise<void> {
  const { embeddedDirectory } = await import("../../client/settings.js");
  const dir = embeddedDirectory(baseUrl);
  if (dir === undefined) return;
  const { existing } = await import("../../service/embedded.js");
  if (await existing(dir)) return;
  const none = `There is no embedded service in ${resolve(dir)}.`;
  if (stack !== undefined) throw new Error(`${none} Create it with \`pulumi up --stack ${stack}\`.`);
  const names = await stackNames(".");
  if (names.length > 0)
    throw new Error(`${none} Choose a stack of this project with --stack: ${names.join(", ")}.`);
  throw new Error(
    `${none} Choose a stack with --stack or a service with --service, or start one with \`recommender serve\`.`,
  );
}

function idResolver(stack: StackView | undefined): OpenService["resolveId"] {
  return (types, given, option) => {
    const wanted = [types].flat();
    if (!stack) {
      if (given !== undefined) return given;
      throw new Error(`${option} is missing. Pass an id, or --stack NAME to use the id in a Pulumi stack.`);
    }
    const typeNames = wanted.join(" or ");
    const candidates = stack.resources.filter(({ type }) => wanted.includes(type));
    const names = candidates.map(({ name }) => name).join(", ") || "none";
    if (given === undefined) {
      const [only, ...others] = candidates;
      if (only && others.length === 0) return only.id;
      const found = only
        ? `several resources of type ${typeNames}: ${names}. Choose one`
        : `no ${typeNames}. Pass an id`;
      throw new Error(`${option} is missing. Stack ${stack.name} has ${found}.`);
    }
    const found = candidates.filter(({ name }) => name === given);
    if (found.length > 1)
      throw new Error(
        `${option} ${given}: stack ${stack.name} has several resources with this name. Pass the id.`,
      );
    if (found[0]) return found[0].id;
    if (!candidates.some(({ id }) => id === given))
      note(
        `Stack ${stack.name} has no ${typeNames} called ${given}, so this is used as an id. Known names: ${names}.`,
      );
    return given;
  };
}
