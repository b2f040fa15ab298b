const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const onWindows = process.platform === "win32";

/** The three programs that the engine needs in one directory on PATH to run Node programs with dynamic resources. */
const fileNames = onWindows
  ? ["pulumi.exe", "pulumi-language-nodejs.exe", "pulumi-resource-pulumi-nodejs.cmd"]
  : ["pulumi", "pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

/** Returns the file name of a Go program on this platform. @param {string} name */
const executable = (name) => (onWindows ? `${name}.exe` : name);

/** Returns the names of the engine's files that are missing in `directory`. @param {string} directory */
function missingFrom(directory) {
  return fileNames.filter((name) => !fs.existsSync(path.join(directory, name)));
}

/**
 * Returns the output of `pulumi version`, without the `v`.
 * @param {string} program path of the program
 * @returns {string}
 */
function versionOf(program) {
  const ran = spawnSync(program, ["version"], {
    encoding: "utf8",
    timeout: 20_000,
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "1" },
  });
  const found = /^v?(\d+\.\d+\.\d+\S*)\s*$/m.exec(ran.stdout ?? "");
  if (found?.[1] === undefined) {
    const reason = ran.error?.message ?? (ran.stderr.trim().split("\n")[0] || "it printed no version");
    throw new Error(`\`${program} version\` failed: ${reason}`);
  }
  return found[1];
}

/**
 * Returns whether a version is at least `oldest`. A pre-release counts as its release.
 * @param {string} version
 * @param {string} oldest
 */
function isAtLeast(version, oldest) {
  const numbers = (/** @type {string} */ text) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  const wanted = numbers(oldest);
  for (const [index, number] of numbers(version).entries()) {
    const difference = number - (wanted[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

module.exports = { fileNames, executable, missingFrom, versionOf, isAtLeast };
