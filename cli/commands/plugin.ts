import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { version } from "../../package.json";
import { packageDirectory } from "../../provider/plugin/package-directory";
import { examples, type OutputOptions, print, withJsonErrors } from "../terminal/output";

const help = `
The plugin runs the package that the program has installed, so upgrading that
package is enough. Programs without the package, such as Python projects, run
the package of this command.

To use the plugin in a TypeScript stack, run
\`pulumi config set recommender:binding plugin\`.

Examples:
  recommender plugin install
  recommender plugin install --json`;

/** Adds `recommender plugin`. */
export function addPlugin(program: Command): void {
  const plugin = program
    .command("plugin")
    .description("Manage the provider plugin for all Pulumi languages.")
    .addHelpText("after", examples("plugin install"));
  plugin
    .command("install")
    .description("Install the plugin for the Pulumi engine on PATH.")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", help)
    .action(async (options: OutputOptions) => {
      await withJsonErrors(options, install);
      print(options, { plugin: "recommender", version }, () => `Installed plugin recommender ${version}\n`);
    });
}

/**
 * Installs the plugin's start script together with the path of this package. The script runs this package for programs
 * that have not installed the package themselves.
 */
async function install(): Promise<void> {
  const installed = packageDirectory();
  const copy = await mkdtemp(join(tmpdir(), "recommender-plugin-"));
  try {
    await cp(join(installed, "plugin"), copy, { recursive: true });
    await writeFile(join(copy, "installed-from"), `${installed}\n`);
    const args = ["plugin", "install", "resource", "recommender", `v${version}`, "--file", copy];
    await promisify(execFile)("pulumi", [...args, "--reinstall"], { timeout: 120_000 });
  } catch (error) {
    const { code, stderr, message } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") throw new Error("`pulumi` is not on PATH. Install the Pulumi engine first.");
    throw new Error(`The engine cannot install the plugin: ${stderr?.trim() || message}`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
