const { execFile } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { promisify } = require("node:util");
const { root } = require("../setup.js");
const { readArchive } = require("./archive.js");

/**
 * What npm prints; found by the path it gave us, as on Windows it is a script that cannot be started by its name.
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
 * Fetches a package from the npm registry, or out of npm's cache, and gives the files of it that are wanted.
 * @param {{ name: string, version: string, integrity: string }} wanted
 * @param {string} folder where it may be put meanwhile
 * @param {(name: string) => boolean} isWanted
 */
async function fetchFiles({ name, version, integrity }, folder, isWanted) {
  const id = `${name}@${version}`;
  const args = ["pack", id, "--prefer-offline", "--json", "--loglevel=error", "--pack-destination", folder];
  const printed = await npm(args).catch((error) => {
    throw new Error(
      `${id} could not be fetched: ${reasonOf(error)}\n` +
        "Make the npm registry reachable (`npm ping` tries it), or leave out the platforms that need it: " +
        "name the other parts with --only.",
    );
  });
  const archive = path.join(folder, JSON.parse(printed)[0].filename);
  const hash = `sha512-${createHash("sha512")
    .update(await fs.promises.readFile(archive))
    .digest("base64")}`;
  if (hash !== integrity) {
    throw new Error(`${id} hashes to ${hash}, but ${integrity} is pinned: this is not the same package.`);
  }
  const files = await readArchive(archive, (file) => isWanted(file.replace(/^package\//, "")));
  await fs.promises.rm(archive);
  return files.map((file) => ({ ...file, name: file.name.replace(/^package\//, "") }));
}

/** The line in which npm says why. @param {Error & { stderr?: string, stdout?: string }} error */
function reasonOf({ stderr, message }) {
  const lines = (stderr ?? "").split("\n").map((line) => line.replace(/^npm (error|ERR!)\s*/, "").trim());
  return lines.find((line) => line !== "" && !/^(code|errno|syscall) /.test(line)) ?? message;
}

/** A package as package-lock.json pins it. @param {string} name */
function pinned(name) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const { version, integrity } = packages[`node_modules/${name}`];
  return { name, version, integrity };
}

module.exports = { npm, fetchFiles, pinned };
