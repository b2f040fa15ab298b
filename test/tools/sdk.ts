import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "../../tools/engine/cache.js";
import { isThere } from "../../tools/sdk/generate.js";

/** The version of the Pulumi SDK for Python with which generated packages are tested. */
const pulumiVersion = "3.230.0";

/** Compilers may have to compile all dependencies of an SDK first. */
export const compileMs = 1_200_000;

/** The reason why this machine cannot generate SDKs, or undefined. */
export const withoutGo = isThere("go") ? undefined : "there is no `go` on PATH";

/** Returns a Python with the Pulumi SDK, cached between runs, or the reason why there is none. */
export function python(): { readonly bin: string; readonly missing?: string } {
  const directory = join(cacheDirectory(process.env), `python-${pulumiVersion}`);
  const bin = join(directory, "bin");
  if (existsSync(directory)) return { bin };
  if (!isThere("python3")) return { bin, missing: "there is no `python3` on PATH" };
  // Two test files may create it at the same time, so it is renamed when it is complete.
  const making = `${directory}.making-${process.pid}`;
  const packages = [`pulumi==${pulumiVersion}`, "parver", "semver", "setuptools>=61", "wheel"];
  const steps: [string, string[]][] = [
    ["python3", ["-m", "venv", making]],
    [join(making, "bin/python"), ["-m", "pip", "install", "--quiet", ...packages]],
  ];
  for (const [program, args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 900_000 });
    if (status === 0) continue;
    rmSync(making, { recursive: true, force: true });
    const fault = `${program} ${args.slice(0, 3).join(" ")} failed: ${error ?? stderr.trim()}`;
    // Some systems have Python without venv. Other errors are real failures.
    if (args.includes("venv")) return { bin, missing: fault };
    throw new Error(fault);
  }
  try {
    renameSync(making, directory);
  } catch {
    // The other test file was first.
    rmSync(making, { recursive: true, force: true });
  }
  return { bin };
}

/** Installs the generated Python package into a directory for PYTHONPATH. */
export function installWheel(bin: string, sdk: string, directory: string): void {
  const pip = (...args: string[]) =>
    execFileSync(join(bin, "python"), ["-m", "pip", "--quiet", ...args], { cwd: sdk, stdio: "pipe" });
  pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".");
  pip(
    "install",
    "--no-deps",
    "--no-index",
    "--find-links",
    "dist",
    "--target",
    directory,
    "pulumi_recommender",
  );
}
