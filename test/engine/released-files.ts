import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type File, readArchive } from "../../tools/release/archive.js";

const run = promisify(execFile);

/** Checkout under test. */
export const repository = join(__dirname, "../..");

/** Loads the release tools in a copy of the checkout, because they rebuild dist/, which other tests use. */
export async function releaseTools(copy: string): Promise<typeof import("../../tools/release/write.js")> {
  const all = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { stdout } = await run("git", all, { cwd: repository, maxBuffer: 2 ** 26 });
  const files = stdout.split("\0").filter((name) => name !== "" && existsSync(join(repository, name)));
  for (const name of files) await cp(join(repository, name), join(copy, name));
  await symlink(join(repository, "node_modules"), join(copy, "node_modules"), "junction");
  return require(join(copy, "tools/release/write.js"));
}

/** Archive of the plugin. */
export interface PluginArchive {
  /** Files in the order of the archive. Compiled files have no bytes, because they are large. */
  readonly files: readonly File[];
  /** Platform of each compiled file, by name. */
  readonly compiled: Readonly<Record<string, string | undefined>>;
}

/** Reads an archive of the plugin. */
export async function readPlugin(archive: string): Promise<PluginArchive> {
  const files = await readArchive(archive, () => true);
  const isCompiled = ({ name }: File) => /^node(\.exe)?$|\.node$/.test(name);
  return {
    files: files.map((file) => (isCompiled(file) ? { ...file, bytes: Buffer.alloc(0) } : file)),
    compiled: Object.fromEntries(
      files.filter(isCompiled).map(({ name, bytes }) => [name, platformOf(bytes)]),
    ),
  };
}

/** Architecture codes in ELF, Mach-O and PE. */
const machines: Readonly<Record<number, string>> = {
  62: "amd64",
  183: "arm64",
  16777223: "amd64",
  16777228: "arm64",
  34404: "amd64",
};

/** Returns the platform of a program or library, with the engine's name. Undefined for other files. */
function platformOf(bytes: Buffer): string | undefined {
  const magic = bytes.subarray(0, 4).toString("hex");
  if (magic === "7f454c46") return `linux-${machines[bytes.readUInt16LE(18)]}`;
  if (magic === "cffaedfe") return `darwin-${machines[bytes.readUInt32LE(4)]}`;
  if (magic.startsWith("4d5a")) return `windows-${machines[bytes.readUInt16LE(bytes.readUInt32LE(60) + 4)]}`;
  return undefined;
}

/**
 * Returns the packages in an archive of the plugin, as `name version`: those with files in it, and those in the bundles,
 * from the comment above each module.
 */
export function bundledPackages(files: readonly File[], root: string): string[] {
  const directories = files.flatMap(({ name, bytes }) => {
    if (!name.startsWith("dist/")) return packageIn(name);
    const modules = bytes.toString().matchAll(/^ *\/\/ (\S*node_modules\/\S+\.(?:[cm]?js|json))$/gm);
    return [...modules].flatMap(([, path = ""]) => packageIn(path));
  });
  const own = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const described = [...new Set(directories)].map((directory) => {
    const file = `${directory}/package.json`;
    const { name, version } = JSON.parse(String(own.get(file) ?? readFileSync(join(root, file))));
    return `${name} ${version}`;
  });
  return described.sort();
}

/** Returns the package directory of a file, from the first node_modules on. */
function packageIn(path: string): string[] {
  return /node_modules\/.*(?<=node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(path)?.slice(0, 1) ?? [];
}
