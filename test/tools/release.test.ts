import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type File, readArchive, writeArchive } from "../../tools/release/archive.js";
import { readCheckout } from "../../tools/release/checkout.js";
import { fetchFiles } from "../../tools/release/npm.js";
import { writeRelease } from "../../tools/release/write.js";
import { temporaryDirectory } from "./provide";

const shim = join(__dirname, "../../tools/release/pulumi-resource-recommender");

/** Writes files to a directory, by their relative paths. */
async function write(directory: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text, { mode: 0o755 });
  }
}

test("an archive contains its files, and its bytes depend only on them", async () => {
  const directory = await temporaryDirectory();
  const files = [3_000_000, 0, 3_000_000, 3_000_000, 5].map((size, index) => ({
    name: `directory/${9 - index}`,
    bytes: randomBytes(size),
    executable: index === 0,
  }));
  const [one, two] = [join(directory, "one.tar.gz"), join(directory, "two.tar.gz")];
  await writeArchive(one, files);
  await writeArchive(two, [...files].reverse());
  // Jest would take minutes to compare such large buffers.
  const hashed = (all: File[]) =>
    all.map((file) => ({ ...file, bytes: createHash("sha256").update(file.bytes).digest("hex") }));
  expect(hashed(await readArchive(one, () => true))).toEqual(hashed(files).reverse());
  expect((await readFile(one)).equals(await readFile(two))).toBe(true);
});

describe("a checkout", () => {
  let directory: string;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
      cwd: directory,
    });
  const version = (text: string) => ({
    "package.json": JSON.stringify({ version: text }),
    "schema.json": JSON.stringify({ version: text }),
    "openapi.json": JSON.stringify({ info: { version: text } }),
  });
  beforeEach(async () => {
    directory = await temporaryDirectory();
    await write(directory, {
      ...version("1.2.0"),
      "CHANGELOG.md": "# Changelog\n\n## 1.2.0 - 2026-01-01\n\n- New.\n\n## 1.1.0\n\n- Old.\n",
    });
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "--message", "all");
  });

  test("has no warnings if everything is committed, tagged and in the changelog", () => {
    git("tag", "v1.2.0");
    const { notes, warnings, commit, dirty } = readCheckout(directory);
    expect(notes).toBe("# pulumi-recommender 1.2.0\n\n- New.\n");
    expect({ warnings, dirty }).toEqual({ warnings: [], dirty: false });
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("has warnings otherwise", async () => {
    await write(directory, { "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Next.\n" });
    expect(readCheckout(directory).warnings).toEqual([
      "some changes are not committed, so the commit does not contain them",
      "HEAD has no tag: run `git tag v1.2.0`",
      'CHANGELOG.md starts with "Unreleased": rename that section to 1.2.0',
    ]);
  });

  test("is rejected if the tag or a generated file has another version", async () => {
    git("tag", "v1.3.0");
    expect(() => readCheckout(directory)).toThrow(
      /HEAD is tagged v1\.3\.0, but package\.json has version 1\.2\.0\. /,
    );
    await write(directory, { "package.json": version("1.3.0")["package.json"] });
    expect(() => readCheckout(directory)).toThrow(
      "openapi.json has version 1.2.0, but package.json has 1.3.0. Run `npm run openapi`.",
    );
  });
});

test("a release never replaces a directory with other files", async () => {
  const directory = await temporaryDirectory();
  await write(directory, { "thesis.txt": "mine" });
  await expect(writeRelease({ directory, only: ["sdk"] })).rejects.toThrow(
    /thesis\.txt is not part of a release/,
  );
  await expect(writeRelease({ directory, only: ["solaris"] })).rejects.toThrow(/--only solaris: use one of/);
  await write(directory, { SHA256SUMS: `${"0".repeat(64)}  other.txt\n` });
  await expect(writeRelease({ directory, only: ["sdk"] })).rejects.toThrow(/thesis\.txt is not part/);
  expect(await readdir(directory)).toEqual(["SHA256SUMS", "thesis.txt"]);
});

describe("a package for a platform", () => {
  const before = { ...process.env };
  let registry: Server;
  const stop = () => new Promise((resolve) => registry.close(resolve).closeAllConnections());
  afterEach(async () => {
    process.env = { ...before };
    await stop();
  });

  test("is downloaded by name, and rejected if its hash is not the pinned one", async () => {
    const directory = await temporaryDirectory();
    const archive = join(directory, "packed.tgz");
    const manifest = { name: "node-test", version: "1.0.0" };
    const file = (name: string, text: string) => ({ name: `package/${name}`, bytes: Buffer.from(text) });
    await writeArchive(archive, [
      file("package.json", JSON.stringify(manifest)),
      file("bin/node", "program"),
    ]);
    const bytes = await readFile(archive);
    const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    registry = createServer(({ url, headers }, response) => {
      const dist = { tarball: `http://${headers.host}/node-test-1.0.0.tgz`, integrity };
      const versions = { "1.0.0": { ...manifest, dist } };
      const all = { name: "node-test", "dist-tags": { latest: "1.0.0" }, versions };
      response.end(url?.endsWith(".tgz") ? bytes : JSON.stringify(all));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => registry.once("listening", resolve));
    Object.assign(process.env, {
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
      npm_config_cache: join(directory, "cache"),
      npm_config_fetch_retries: "0",
    });
    const fetched = (pin: string) =>
      fetchFiles({ ...manifest, integrity: pin }, directory, (name) => name === "bin/node");
    expect(await fetched(integrity)).toEqual([
      { name: "bin/node", bytes: Buffer.from("program"), executable: false },
    ]);
    await expect(fetched("sha512-other")).rejects.toThrow(
      `node-test@1.0.0 has hash ${integrity}, but sha512-other is pinned. This is not the same package.`,
    );
    await stop();
    process.env.npm_config_cache = join(directory, "other-cache");
    await expect(fetched(integrity)).rejects.toThrow(
      /^Cannot download node-test@1\.0\.0: .*ECONNREFUSED.*\nMake the npm registry reachable/,
    );
  });
});

describe("the start script of the plugin, if its own Node does not run", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    await write(directory, {
      node: "not a program",
      "dist/provider/plugin/main.js": "console.log(process.argv.slice(2).join())",
      "old/node": "#!/bin/sh\necho v18.20.4\n",
      "none/nothing": "",
    });
    await cp(shim, join(directory, "pulumi-resource-recommender"));
  });
  const start = (path: string) =>
    spawnSync(join(directory, "pulumi-resource-recommender"), ["127.0.0.1:1"], {
      env: { PATH: path },
      encoding: "utf8",
    });

  test("uses the Node on PATH", () => {
    expect(start(dirname(process.execPath)).stdout).toBe("127.0.0.1:1\n");
  });

  test.each([
    ["old", "v18.20.4"],
    ["none", "none"],
  ])("reports what to install if PATH has %s", (name, found) => {
    const { status, stderr } = start(join(directory, name));
    expect(stderr).toBe(
      "pulumi-resource-recommender: the Node of this plugin does not run on this machine, and " +
        `PATH has ${found}. Install Node 20 or newer.\n`,
    );
    expect(status).toBe(1);
  });
});
