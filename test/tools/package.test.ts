import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { globSync } from "tinyglobby";

const root = join(__dirname, "../..");

/** The files that are published, as npm lists them. */
function packedFiles(): string[] {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

/** A heading as the addresses of its page name it. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

test("every link of a published page leads to a file and a heading that are published too", () => {
  const files = packedFiles();
  const pages = files.filter((file) => file.endsWith(".md"));
  expect(pages).toEqual(expect.arrayContaining(["README.md", "CHANGELOG.md", "docs/cli.md"]));
  expect(files).toContain("openapi.json");
  const read = (file: string) => readFileSync(join(root, file), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const headings = (file: string) =>
    [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => anchor(text));
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
      ([link, path = "", heading]) => {
        const file = path === "" ? page : posix.join(posix.dirname(page), path);
        const isThere = files.some((one) => one === file || one.startsWith(`${file}/`));
        const isNamed = heading === undefined || (isThere && headings(file).includes(heading));
        return isThere && isNamed ? [] : [`${page}: ${link}`];
      },
    ),
  );
  expect(dead).toEqual([]);
});

test("the plugin is published with the command that starts it and with its schema", () => {
  const command = "plugin/pulumi-resource-recommender";
  const needed = [command, `${command}.cmd`, "dist/provider/plugin/main.js", "schema.json"];
  expect(packedFiles()).toEqual(expect.arrayContaining(needed));
  // The engine starts it.
  expect(statSync(join(root, command)).mode & 0o111).toBe(0o111);
});

test("benchmarks fetch packages by name and version, not archives by their address", () => {
  const files = globSync("bench/**/*.{ts,py}", { cwd: root });
  const addresses = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/https?:\/\/\S+?\.(tgz|tar\.gz|whl|zip)\b/g)].map(
      ([address]) => `${file}: ${address}`,
    ),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(addresses).toEqual([]);
});
