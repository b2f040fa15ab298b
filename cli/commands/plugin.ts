import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { version } from "../../package.json";
import { answering, type OutputOptions, print } from "../terminal/output";

const help = `
Stacks use it with \`pulumi config set recommender:carrier plugin\`. It runs the
code of the package that is installed beside the program, so that an upgrade of
the package needs no other installation.

Examples:
  recommender plugin install
  recommender plugin install --json`;

/** Adds `recommender plugin`. */
export function addPlugin(program: Command): void {
  const plugin = program
    .command("plugin")
    .description("The provider plugin, for every Pulumi language.")
    .addHelpText("after", "\nExamples:\n  recommender plugin install");
  plugin
    .command("install")
    .description("Install the plugin of this package for the Pulumi engine on PATH.")
    .option("--json", "print one line of JSON")
    .addHelpText("after", help)
    .action(async (options: OutputOptions) => {
      await answering(options, install);
      print(options, { plugin: "recommender", version }, () => `Installed plugin recommender ${version}\n`);
    });
}

async function install(): Promise<void> {
  // Beside the sources, or beside dist/.
  const folders = ["../../plugin", "../../../plugin"].map((folder) => join(__dirname, folder));
  const folder = folders.find((path) => existsSync(path)) ?? "";
  const args = ["plugin", "install", "resource", "recommender", `v${version}`, "--file", folder];
  try {
    await promisify(execFile)("pulumi", [...args, "--reinstall"], { timeout: 120_000 });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("`pulumi` is not on PATH: install the engine first.");
    throw new Error(`The engine could not install the plugin: ${stderr?.trim() || message}`);
  }
}
