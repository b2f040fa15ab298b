import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { version } from "../../package.json";
import { type OutputOptions, print, withJsonErrors } from "../terminal/output";

const help = `
The plugin runs the code of the package that the program installed, so upgrading
the package is enough. Programs without the package, such as a Python project,
run the package that this command belongs to.

TypeScript stacks use the plugin after
\`pulumi config set recommender:carrier plugin\`.

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
      await withJsonErrors(options, install);
      print(options, { plugin: "recommender", version }, () => `Installed plugin recommender ${version}\n`);
    });
}

/**
 * Installs a copy of the start script with a note of where this package is. Programs without the package, such as a
 * Python project elsewhere on the machine, then run this one.
 */
async function install(): Promise<void> {
  const installed = resolve(pluginDirectory(), "..");
  const copy = await mkdtemp(join(tmpdir(), "recommender-plugin-"));
  try {
    await cp(join(installed, "plugin"), copy, { recursive: true });
    await writeFile(join(copy, "installed-from"), `${installed}\n`);
    const args = ["plugin", "install", "resource", "recommender", `v${version}`, "--file", copy];
    await promisify(execFile)("pulumi", [...args, "--reinstall"], { timeout: 120_000 });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("`pulumi` is not on PATH: install the engine first.");
    throw new Error(`The engine could not install the plugin: ${stderr?.trim() || message}`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** The directory `plugin/` of the package: next to the sources in a clone, next to `dist/` once built. */
function pluginDirectory(): string {
  const candidates = ["../../plugin", "../../../plugin"].map((path) => join(__dirname, path));
  return candidates.find((path) => existsSync(path)) ?? "";
}
