import { type Command, Option } from "commander";
import { settingsOf } from "./service";

/** Where data lies unless a folder is given; the provider's default too. */
export const defaultDataDir = ".recommender";

/** Which embedded service a command is about: by its folder, or by the stack that uses it. */
export interface FolderOptions {
  readonly data?: string;
  readonly stack?: string;
  readonly cwd?: string;
}

/** Adds the options that say which embedded service is meant. */
export function withFolder(command: Command): Command {
  return command
    .option("--data <dir>", `folder of all data (default: "${defaultDataDir}")`)
    .addOption(new Option("--stack <name>", "Pulumi stack whose embedded service is meant").conflicts("data"))
    .option("--cwd <dir>", "folder of the stack's project");
}

/** The folder of the embedded service that is meant. */
export async function folderOf({ data, stack, cwd }: FolderOptions): Promise<string> {
  if (stack === undefined && cwd === undefined) return data ?? defaultDataDir;
  const { settings } = await settingsOf({ ...(stack && { stack }), ...(cwd && { cwd }) });
  const [, folder] = /^embedded:(.+)/.exec(settings.baseUrl) ?? [];
  if (folder === undefined)
    throw new Error(
      `--stack ${stack}: its service is ${settings.baseUrl}; only an embedded one has a folder.`,
    );
  return folder;
}
