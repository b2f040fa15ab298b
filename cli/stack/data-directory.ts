import { type Command, Option } from "commander";
import type { Place } from "../../service";
import { postgresUrl } from "../terminal/option-values";
import { settingsOf } from "./service";
import { stackNames } from "./workspace";

/** Default data directory of the CLI and the provider. */
export const defaultDataDir = ".recommender";

/** Options that select an embedded service by its data directory or by the stack that uses it. */
export interface DataOptions {
  readonly data: string;
  readonly stack?: string;
  readonly cwd?: string;
}

/** Adds the options that select an embedded service. */
export function withDataDirectory(command: Command): Command {
  return command
    .option("--data <dir>", "data directory", defaultDataDir)
    .addOption(new Option("--stack <name>", "Pulumi stack that uses the embedded service").conflicts("data"))
    .addOption(new Option("--cwd <dir>", "project directory of the stack").conflicts("data"));
}

/** Options that select a service's data, in a data directory or a database. */
export interface StorageOptions extends DataOptions {
  readonly store?: string;
  readonly files?: string;
}

/** Adds the options that select a service's data. */
export function withStorage(command: Command): Command {
  return withDataDirectory(command)
    .addOption(storeOption().conflicts(["data", "stack", "cwd"]))
    .addOption(filesOption());
}

/** Option that selects a PostgreSQL database. */
export function storeOption(): Option {
  return new Option("--store <url>", "PostgreSQL database instead of --data, as in postgres://host/name")
    .env("RECOMMENDER_STORE")
    .argParser(postgresUrl);
}

/** Option that selects a bucket for models and results. */
export function filesOption(): Option {
  const description = "bucket for models and results, as in s3://bucket/prefix";
  return new Option("--files <url>", description).env("RECOMMENDER_FILES");
}

/** Returns where the selected service stores its data. */
export async function storageOf({ store, files, ...options }: StorageOptions): Promise<Place> {
  return {
    dataDir: store === undefined ? await dataDirectoryOf(options) : options.data,
    ...(store !== undefined && { store }),
    ...(files !== undefined && { files }),
  };
}

/**
 * Returns a hint that lists the project's stacks, because each stack may have its own data directory. Empty if the user
 * has chosen a stack or a data directory.
 */
export async function stackHint({ data, stack, cwd = "." }: DataOptions): Promise<string> {
  if (stack !== undefined || data !== defaultDataDir) return "";
  const names = await stackNames(cwd);
  return names.length === 0 ? "" : ` For the service of a stack, pass --stack: ${names.join(", ")}.`;
}

/** Returns the data directory of the selected embedded service. */
export async function dataDirectoryOf({ data, ...options }: DataOptions): Promise<string> {
  if (options.stack === undefined && options.cwd === undefined) return data;
  const { settings } = await settingsOf(options);
  const { embeddedDirectory } = await import("../../client/settings.js");
  const directory = embeddedDirectory(settings.baseUrl);
  if (directory !== undefined) return directory;
  throw new Error(
    `Stack ${options.stack} uses the service at ${settings.baseUrl}, which has no local data directory. ` +
      "Choose a stack with an embedded service, or pass --data DIR.",
  );
}
