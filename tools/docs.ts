import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { globSync } from "tinyglobby";
import { provideEngine } from "./engine/provide.js";
import { buildPackage } from "./setup.js";

const root = join(__dirname, "..");

/** The pages that may show the output of commands. */
export const pages = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()];

/**
 * A block with output, and the comment before it: `<!-- docs`, followed by hidden commands. If the block contains
 * commands (`$ …`), it shows their output. Otherwise it shows the output of the last hidden command.
 */
const marked = /^<!-- docs\b([\s\S]*?)-->\n+(```(?:console|json)?\n)([\s\S]*?)^```$/gm;

const shownCommand = /^\$ (.*(?:\\\n.*)*)\n?/gm;

/** A block that shows a file of the repository, and the comment before it with the path of the file. */
const shownFile = /^<!-- file (\S+) -->\n+(```\w+\n)[\s\S]*?^```$/gm;

/** Returns the page with the current content of the files that it shows. */
export function withFiles(page: string): string {
  return page.replace(shownFile, (_, path: string, fence: string) => {
    const text = readFileSync(join(root, path), "utf8");
    return `<!-- file ${path} -->\n\n${fence}${text}\`\`\``;
  });
}

/** Returns the blocks with output that do not follow a `<!-- docs` comment. */
export function unmarkedIn(text: string): string[] {
  const rest = text
    .replace(marked, "")
    .replace(/^```\w+\n[\s\S]*?^```$/gm, (block) => (block.startsWith("```console\n") ? block : ""));
  return [...rest.matchAll(/^```(?:console)?\n([\s\S]*?)^```$/gm)].map(([, body = ""]) => body);
}

/** Replaces values that differ between runs: ids, times, ports, commits. */
export function masked(text: string): string {
  return text
    .replace(/\b([a-z]+(?:-[a-z]+)*)-[0-9a-f]{20}\b/g, "$1-ID")
    .replace(/\b\d{4}-\d\d-\d\d(T[\d:.]+Z)?\b/g, "DATE")
    .replace(/\b(127\.0\.0\.1):\d+/g, "$1:PORT")
    .replace(/\bsha256:[0-9a-f]+|`[0-9a-f]{12}`|\b[0-9a-f]{40}\b/g, "DIGEST")
    .replace(/\bin\s+[\d.]+ s, [\d,]+ per second/g, "in TIME")
    .replace(/[ \n]+/g, " ");
}

/** Returns the page with the current output of its commands. A block stays as it is if only ids or times differ. */
export function renewed(page: string, run: (command: string, without?: "progress") => string): string {
  return page.replace(marked, (block: string, comment: string, fence: string, body: string) => {
    const hidden = [...`${comment.trim()}\n`.matchAll(shownCommand)].map(([, command = ""]) => command);
    const shown = body.startsWith("$ ");
    const printed = hidden.map((command) => run(command)).at(-1) ?? "";
    const now = shown ? transcript(body, run) : printed;
    return masked(now) === masked(body) ? block : `<!-- docs${comment}-->\n\n${fence}${now}\`\`\``;
  });
}

/**
 * Runs the commands in a block. If the first line of their output is `…`, the page does not show what is printed to
 * stderr.
 */
function transcript(body: string, run: (command: string, without?: "progress") => string): string {
  const parts = body.split(/^(?=\$ )/m);
  return parts
    .map((part) => {
      const [line = ""] = part.match(shownCommand) ?? [];
      const command = line.slice(2).trimEnd();
      const quiet = part.slice(line.length).startsWith("…\n");
      return `$ ${command}\n${quiet ? "…\n" : ""}${run(command, quiet ? "progress" : undefined)}`;
    })
    .join("");
}

/** Creates a directory like a reader's: the package is installed, and the engine and the CLI are on PATH. */
export function workplace(engineBin: string) {
  const directory = mkdtempSync(join(tmpdir(), "recommender-docs-"));
  const shop = mkdtempSync(join(tmpdir(), "shop-"));
  const at = (...names: string[]) => join(directory, ...names);
  for (const name of ["bin", "home", "state"]) mkdirSync(at(name));
  symlinkSync(join(root, "dist/cli/main.js"), at("bin/recommender"));
  const installed = join(shop, "node_modules/pulumi-recommender");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(shop, "package.json"), '{ "name": "shop", "private": true }\n');
  cpSync(join(root, "package.json"), join(installed, "package.json"));
  symlinkSync(join(root, "dist"), join(installed, "dist"));
  symlinkSync(join(root, "node_modules/@pulumi"), join(shop, "node_modules/@pulumi"));
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(PULUMI|RECOMMENDER)_/.test(name)),
    ),
    ROOT: root,
    COLUMNS: "80",
    XDG_STATE_HOME: at("home"),
    PULUMI_HOME: at("home"),
    PULUMI_BACKEND_URL: `file://${at("state")}`,
    PULUMI_CONFIG_PASSPHRASE: "docs",
    PULUMI_SKIP_UPDATE_CHECK: "1",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
    PATH: [at("bin"), engineBin, process.env.PATH].join(delimiter),
  };
  let code = 0;
  return {
    run(command: string, without?: "progress"): string {
      const line = `(exit ${code}); ${command}`;
      const script = without ? line : `exec 2>&1; ${line}`;
      const ran = spawnSync("bash", ["-c", script], { cwd: shop, env, encoding: "utf8" });
      code = ran.status ?? 1;
      // About as long as the real path, so tables stay aligned.
      return ran.stdout.replaceAll(shop, "/srv/record-shop");
    },
    close() {
      const served = globSync("*/data.db", { cwd: shop, dot: true });
      for (const file of served) this.run(`recommender stop --data '${dirname(file)}'`);
      for (const used of [directory, shop]) rmSync(used, { recursive: true, force: true });
    },
  };
}

/**
 * `npm run docs [PAGE …]`: runs the commands on the pages and updates their output and files. `--check` only reports
 * changes.
 */
async function main(given: readonly string[]): Promise<void> {
  await buildPackage();
  const { bin } = await provideEngine();
  const only = given.filter((one) => one !== "--check");
  for (const page of pages.filter((one) => only.length === 0 || only.includes(one))) {
    const text = readFileSync(join(root, page), "utf8");
    if (!text.match(marked) && !text.match(shownFile)) continue;
    const place = workplace(bin);
    try {
      const now = renewed(withFiles(text), (command, without) => {
        console.error(`${page}: ${command}`);
        const printed = place.run(command, without);
        if (process.env.DOCS_VERBOSE) console.error(printed);
        return printed;
      });
      console.log(`${page} ${now === text ? "is up to date" : "has changed"}`);
      if (now === text) continue;
      if (given.includes("--check")) process.exitCode = 1;
      else writeFileSync(join(root, page), now);
    } finally {
      place.close();
    }
  }
}

if (require.main === module) main(process.argv.slice(2));
