import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { globSync } from "tinyglobby";
import { provideEngine } from "./engine/provide.js";
import { buildPackage } from "./setup.js";

const root = join(__dirname, "..");

/** The pages that may show what commands print. */
export const pages = ["README.md", ...globSync("docs/*.md", { cwd: root }).sort()];

/**
 * A block of output, with the comment before it: `<!-- docs` and commands that are run without being shown. A block
 * that shows commands itself (`$ …`) shows what those print, any other what the last command of its comment prints.
 */
const marked = /^<!-- docs\b([\s\S]*?)-->\n+(```(?:console|json)?\n)([\s\S]*?)^```$/gm;

const shownCommand = /^\$ (.*(?:\\\n.*)*)\n?/gm;

/** A block that shows a file of the repository, with the comment before it that names the file. */
const shownFile = /^<!-- file (\S+) -->\n+(```\w+\n)[\s\S]*?^```$/gm;

/** The page with the files that it shows as they are now. */
export function withFiles(page: string): string {
  return page.replace(shownFile, (_, path: string, fence: string) => {
    const text = readFileSync(join(root, path), "utf8");
    return `<!-- file ${path} -->\n\n${fence}${text}\`\`\``;
  });
}

/** Blocks of output without a comment that says where it comes from. */
export function unmarkedIn(text: string): string[] {
  const rest = text
    .replace(marked, "")
    .replace(/^```\w+\n[\s\S]*?^```$/gm, (block) => (block.startsWith("```console\n") ? block : ""));
  return [...rest.matchAll(/^```(?:console)?\n([\s\S]*?)^```$/gm)].map(([, body = ""]) => body);
}

/** The same text without what differs from run to run: ids, times, ports, commits. */
export function masked(text: string): string {
  return text
    .replace(/\b([a-z]+(?:-[a-z]+)*)-[0-9a-f]{20}\b/g, "$1-ID")
    .replace(/\b\d{4}-\d\d-\d\d(T[\d:.]+Z)?\b/g, "DATE")
    .replace(/\b(127\.0\.0\.1):\d+/g, "$1:PORT")
    .replace(/\bsha256:[0-9a-f]+|`[0-9a-f]{12}`|\b[0-9a-f]{40}\b/g, "DIGEST")
    .replace(/\bin\s+[\d.]+ s, [\d,]+ per second/g, "in TIME")
    .replace(/[ \n]+/g, " ");
}

/** The page with the output that its commands print now; what differs only from run to run stays as it was. */
export function renewed(page: string, run: (command: string, without?: "progress") => string): string {
  return page.replace(marked, (block: string, comment: string, fence: string, body: string) => {
    const hidden = [...`${comment.trim()}\n`.matchAll(shownCommand)].map(([, command = ""]) => command);
    const shown = body.startsWith("$ ");
    const printed = hidden.map((command) => run(command)).at(-1) ?? "";
    const now = shown ? transcript(body, run) : printed;
    return masked(now) === masked(body) ? block : `<!-- docs${comment}-->\n\n${fence}${now}\`\`\``;
  });
}

/** A line of … alone stands for what is printed beside the outcome, of which a page shows nothing. */
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

/** A folder of somebody who tries what a page shows: the package installed, the engine and the command on the PATH. */
export function workplace(engineBin: string) {
  const folder = mkdtempSync(join(tmpdir(), "recommender-docs-"));
  const shop = mkdtempSync(join(tmpdir(), "shop-"));
  const at = (...names: string[]) => join(folder, ...names);
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
    ...{ ROOT: root, COLUMNS: "80", XDG_STATE_HOME: at("home"), PULUMI_HOME: at("home") },
    ...{ PULUMI_BACKEND_URL: `file://${at("state")}`, PULUMI_CONFIG_PASSPHRASE: "docs" },
    ...{ PULUMI_SKIP_UPDATE_CHECK: "1", PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    PATH: [at("bin"), engineBin, process.env.PATH].join(delimiter),
  };
  let code = 0;
  return {
    run(command: string, without?: "progress"): string {
      const line = `(exit ${code}); ${command}`;
      const script = without ? line : `exec 2>&1; ${line}`;
      const ran = spawnSync("bash", ["-c", script], { cwd: shop, env, encoding: "utf8" });
      code = ran.status ?? 1;
      // As long as the name of the folder mostly is, so that tables stay in line.
      return ran.stdout.replaceAll(shop, "/srv/record-shop");
    },
    close() {
      const served = globSync("*/data.db", { cwd: shop, dot: true });
      for (const file of served) this.run(`recommender stop --data '${dirname(file)}'`);
      for (const used of [folder, shop]) rmSync(used, { recursive: true, force: true });
    },
  };
}

/** `npm run docs [PAGE …]`: runs what the pages show and writes what it prints now, and the files that they show; `--check` only tells what differs. */
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
      console.log(`${page} ${now === text ? "is as its commands print" : "has changed"}`);
      if (now === text) continue;
      if (given.includes("--check")) process.exitCode = 1;
      else writeFileSync(join(root, page), now);
    } finally {
      place.close();
    }
  }
}

if (require.main === module) main(process.argv.slice(2));
