const { execFile } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { promisify } = require("node:util");
const { root } = require("../setup.js");
const { readArchive } = require("./archive.js");

/**
 * Runs npm and returns its output. On Windows, `npm` is a script that cannot be started by name, so this uses the path
 * that npm passes to its scripts.
 * @param {string[]} args
 * @returns {Promise<string>}
 */
async function npm(args) {
  const own = process.env.npm_execpath;
  const [program, first] = own ? [process.execPath, [own]] : ["npm", []];
  const options = { cwd: root, env: process.env, maxBuffer: 2 ** 28 };
  const { stdout } = await promisify(execFile)(program, [...first, ...args], options);
  return stdout;
}

/**
 * Downloads a package from the npm registry or npm's cache, and returns selected files.
 * @param {{ name: string, version: string, integrity: string }} wanted
 * @param {string} directory directory for temporary files
 * @param {(name: string) => boolean} isWanted
 */
async function fetchFiles({ name, version, integrity }, directory, isWanted) {
  const id = `${name}@${version}`;
  const args = [
    "pack",
    id,
    "--prefer-offline",
    "--json",
    "--loglevel=error",
    "--pack-destination",
    directory,
  ];
  const printed = await npm(args).catch((error) => {
    throw new Error(
      `Cannot download ${id}: ${reasonOf(error)}\n` +
        "Make the npm registry reachable (test it with `npm ping`), or leave out the platforms that need it: " +
        "name the other parts with --only.",
    );
  });
  const archive = path.join(directory, JSON.parse(printed)[0].filename);
  const hash = `sha512-${createHash("sha512")
    .update(await fs.promises.readFile(archive))
    .digest("base64")}`;
  if (hash !== integrity) {
    throw new Error(`${id} has hash ${hash}, but ${integrity} is pinned. This is not the same package.`);
  }
  const files = await readArchive(archive, (file) => isWanted(file.replace(/^package\//, "")));
  await fs.promises.rm(archive);
  return files.map((file) => ({ ...file, name: file.name.replace(/^package\//, "") }));
}

/** Returns the line with the reason from the output of npm. @param {Error & { stderr?: string, stdout?: string }} error */
function reasonOf({ stderr, message }) {
  const lines = (stderr ?? "").split("\n").map((line) => line.replace(/^npm (error|ERR!)\s*/, "").trim());
  return lines.find((line) => line !== "" && !/^(code|errno|syscall) /.test(line)) ?? message;
}

/** Returns the version and hash of a package in package-lock.json. @param {string} name */
function pinned(name) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const { version, integrity } = packages[`node_modules/${name}`];
  return { name, version, integrity };
}

module.exports = { npm, fetchFiles, pinned };
