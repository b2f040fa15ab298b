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
import { temporaryFolder } from "./provide";

const shim = join(__dirname, "../../tools/release/pulumi-resource-recommender");

/** Writes files into a folder, by their paths in it. */
async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text, { mode: 0o755 });
  }
}

test("an archive holds its files whole, and its bytes follow from them alone", async () => {
  const folder = await temporaryFolder();
  const files = [3_000_000, 0, 3_000_000, 3_000_000, 5].map((size, index) => ({
    name: `folder/${9 - index}`,
    bytes: randomBytes(size),
    executable: index === 0,
  }));
  const [one, two] = [join(folder, "one.tar.gz"), join(folder, "two.tar.gz")];
  await writeArchive(one, files);
  await writeArchive(two, [...files].reverse());
  // Jest compares such buffers byte by byte, for minutes.
  const hashed = (all: File[]) =>
    all.map((file) => ({ ...file, bytes: createHash("sha256").update(file.bytes).digest("hex") }));
  expect(hashed(await readArchive(one, () => true))).toEqual(hashed(files).reverse());
  expect((await readFile(one)).equals(await readFile(two))).toBe(true);
});

describe("what a checkout releases", () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=test", "-c", "user.email=test@example.com", ...args], {
      cwd: folder,
    });
  const version = (text: string) => ({
    "package.json": JSON.stringify({ version: text }),
    "schema.json": JSON.stringify({ version: text }),
    "openapi.json": JSON.stringify({ info: { version: text } }),
  });
  beforeEach(async () => {
    folder = await temporaryFolder();
    await write(folder, {
      ...version("1.2.0"),
      "CHANGELOG.md": "# Changelog\n\n## 1.2.0 - 2026-01-01\n\n- New.\n\n## 1.1.0\n\n- Old.\n",
    });
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "--message", "all");
  });

  test("is without doubt where all is committed, tagged and noted", () => {
    git("tag", "v1.2.0");
    const { notes, warnings, commit, dirty } = readCheckout(folder);
    expect(notes).toBe("# pulumi-recommender 1.2.0\n\n- New.\n");
    expect({ warnings, dirty }).toEqual({ warnings: [], dirty: false });
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
  });

  test("comes with warnings where it is not", async () => {
    await write(folder, { "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Next.\n" });
    expect(readCheckout(folder).warnings).toEqual([
      "some changes are not committed: the commit does not hold them",
      "HEAD has no tag: `git tag v1.2.0` makes it",
      'CHANGELOG.md begins with "Unreleased": name that section 1.2.0',
    ]);
  });

  test("is refused where the tag or a generated file is of another version", async () => {
    git("tag", "v1.3.0");
    expect(() => readCheckout(folder)).toThrow(/HEAD is tagged v1\.3\.0, but package\.json says 1\.2\.0: /);
    await write(folder, { "package.json": version("1.3.0")["package.json"] });
    expect(() => readCheckout(folder)).toThrow(
      "openapi.json is of 1.2.0, package.json of 1.3.0: `npm run openapi` writes it anew.",
    );
  });
});

test("a release never replaces a folder that holds something else", async () => {
  const folder = await temporaryFolder();
  await write(folder, { "thesis.txt": "mine" });
  await expect(writeRelease({ folder, only: ["sdk"] })).rejects.toThrow(
    /thesis\.txt is no part of a release/,
  );
  await expect(writeRelease({ folder, only: ["solaris"] })).rejects.toThrow(
    /--only solaris: expected one of/,
  );
  await write(folder, { SHA256SUMS: `${"0".repeat(64)}  other.txt\n` });
  await expect(writeRelease({ folder, only: ["sdk"] })).rejects.toThrow(/thesis\.txt is no part/);
  expect(await readdir(folder)).toEqual(["SHA256SUMS", "thesis.txt"]);
});

describe("a package for a platform", () => {
  const before = { ...process.env };
  let registry: Server;
  const stop = () => new Promise((resolve) => registry.close(resolve).closeAllConnections());
  afterEach(async () => {
    process.env = { ...before };
    await stop();
  });

  test("is fetched by name, and refused where it is not the one that is pinned", async () => {
    const folder = await temporaryFolder();
    const archive = join(folder, "packed.tgz");
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
      npm_config_cache: join(folder, "cache"),
      npm_config_fetch_retries: "0",
    });
    const fetched = (pin: string) =>
      fetchFiles({ ...manifest, integrity: pin }, folder, (name) => name === "bin/node");
    expect(await fetched(integrity)).toEqual([
      { name: "bin/node", bytes: Buffer.from("program"), executable: false },
    ]);
    await expect(fetched("sha512-other")).rejects.toThrow(
      `node-test@1.0.0 hashes to ${integrity}, but sha512-other is pinned: this is not the same package.`,
    );
    await stop();
    process.env.npm_config_cache = join(folder, "other-cache");
    await expect(fetched(integrity)).rejects.toThrow(
      /^node-test@1\.0\.0 could not be fetched: .*ECONNREFUSED.*\nMake the npm registry reachable/,
    );
  });
});

describe("the command of the plugin, where its own Node does not run", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    await write(folder, {
      node: "not a program",
      "dist/provider/plugin/main.js": "console.log(process.argv.slice(2).join())",
      "old/node": "#!/bin/sh\necho v18.20.4\n",
      "none/nothing": "",
    });
    await cp(shim, join(folder, "pulumi-resource-recommender"));
  });
  const start = (path: string) =>
    spawnSync(join(folder, "pulumi-resource-recommender"), ["127.0.0.1:1"], {
      env: { PATH: path },
      encoding: "utf8",
    });

  test("uses the one on PATH", () => {
    expect(start(dirname(process.execPath)).stdout).toBe("127.0.0.1:1\n");
  });

  test.each([
    ["old", "v18.20.4"],
    ["none", "none"],
  ])("says what to install where PATH has %s", (name, found) => {
    const { status, stderr } = start(join(folder, name));
    expect(stderr).toBe(
      "pulumi-resource-recommender: the Node of this plugin does not run here, and there is " +
        `${found} on PATH: install Node 20 or newer\n`,
    );
    expect(status).toBe(1);
  });
});
