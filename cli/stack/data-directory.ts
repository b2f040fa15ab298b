import { type Command, Option } from "commander";
import type { Place } from "../../service";
import { postgresUrl } from "../terminal/option-values";
import { settingsOf } from "./service";
import { stackNames } from "./workspace";

/** Where data lies unless a folder is given; the provider's default too. */
export const defaultDataDir = ".recommender";

/** Which embedded service a command is about: by its folder, or by the stack that uses it. */
export interface DataDirectoryOptions {
  readonly data: string;
  readonly stack?: string;
  readonly cwd?: string;
}

/** Adds the options that say which embedded service is meant. */
export function withDataDirectory(command: Command): Command {
  return command
    .option("--data <dir>", "folder of all data", defaultDataDir)
    .addOption(new Option("--stack <name>", "Pulumi stack whose embedded service is meant").conflicts("data"))
    .addOption(new Option("--cwd <dir>", "folder of the stack's project").conflicts("data"));
}

/** Which service's data a command is about: in a folder, or in a database. */
export interface StorageOptions extends DataDirectoryOptions {
  readonly store?: string;
  readonly files?: string;
}

/** Adds the options that say where a service keeps its data. */
export function withStorage(command: Command): Command {
  return withDataDirectory(command)
    .addOption(
      new Option(
        "--store <url>",
        "PostgreSQL database that keeps the data instead, as in postgres://host/name",
      )
        .env("RECOMMENDER_STORE")
        .argParser(postgresUrl)
        .conflicts(["data", "stack", "cwd"]),
    )
    .addOption(
      new Option("--files <url>", "bucket of models and results, as in s3://bucket/prefix").env(
        "RECOMMENDER_FILES",
      ),
    );
}

/** Where the service keeps its data that is meant. */
export async function storageOf({ store, files, ...options }: StorageOptions): Promise<Place> {
  const elsewhere = { ...(store !== undefined && { store }), ...(files !== undefined && { files }) };
  return { dataDir: store === undefined ? await dataDirectoryOf(options) : options.data, ...elsewhere };
}

/** What to say beside "no service runs" where no folder was named: stacks of the project may have one each. */
export async function stackHint({ data, stack, cwd = "." }: DataDirectoryOptions): Promise<string> {
  if (stack !== undefined || data !== defaultDataDir) return "";
  const names = await stackNames(cwd);
  return names.length === 0 ? "" : ` For that of a stack, name it with --stack: ${names.join(", ")}.`;
}

/** The folder of the embedded service that is meant. */
export async function dataDirectoryOf({ data, ...options }: DataDirectoryOptions): Promise<string> {
  if (options.stack === undefined && options.cwd === undefined) return data;
  const { settings } = await settingsOf(options);
  const { embeddedDirectory } = await import("../../client/settings.js");
  const folder = embeddedDirectory(settings.baseUrl);
  if (folder === undefined) {
    const named = options.stack === undefined ? `--cwd ${options.cwd}` : `--stack ${options.stack}`;
    throw new Error(`${named}: the service is not an embedded one, and only those have a folder.`);
  }
  return folder;
}
