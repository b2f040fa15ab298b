import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { globSync } from "tinyglobby";

const root = join(__dirname, "../..");

/** The published files, as npm lists them. */
function packedFiles(): string[] {
  const listed = execFileSync("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
}

/** Returns the anchor of a heading. */
const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

test("every link on a published page points to a published file and heading", () => {
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

test("the plugin is published with its start script and its schema", () => {
  const command = "plugin/pulumi-resource-recommender";
  const needed = [command, `${command}.cmd`, "dist/provider/plugin/main.js", "schema.json"];
  expect(packedFiles()).toEqual(expect.arrayContaining(needed));
  // The engine must be able to execute it.
  expect(statSync(join(root, command)).mode & 0o111).toBe(0o111);
});

test("the policy pack is published with its code", () => {
  const needed = ["policy-pack/PulumiPolicy.yaml", "policy-pack/index.js", "dist/provider/policy/pack.js"];
  expect(packedFiles()).toEqual(expect.arrayContaining(needed));
});

test("benchmarks download packages by name and version, not archives by URL", () => {
  const files = globSync("bench/**/*.{ts,py}", { cwd: root });
  const addresses = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/https?:\/\/\S+?\.(tgz|tar\.gz|whl|zip)\b/g)].map(
      ([address]) => `${file}: ${address}`,
    ),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(addresses).toEqual([]);
});
