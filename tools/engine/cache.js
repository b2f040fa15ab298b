const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { executable, fileNames, versionOf } = require("./programs.js");

/** @typedef {import("./errors.js").Engine} Engine */

const markerName = "engine.json";

/** Increase this when the same version is built differently, to discard engines in old caches. */
const revision = 3;

/** Returns the directory that caches engines between runs. @param {NodeJS.ProcessEnv} env */
function cacheDirectory(env) {
  if (env.RECOMMENDER_ENGINE_CACHE) return path.resolve(env.RECOMMENDER_ENGINE_CACHE);
  const home = os.homedir();
  const root =
    process.platform === "win32"
      ? (env.LOCALAPPDATA ?? path.join(home, "AppData", "Local"))
      : process.platform === "darwin"
        ? path.join(home, "Library", "Caches")
        : (env.XDG_CACHE_HOME ?? path.join(home, ".cache"));
  return path.join(root, "pulumi-recommender", "engine");
}

/**
 * Returns the cache entry of one version. An entry is always complete: it is created under another name and renamed.
 * @param {string} cache
 * @param {string} version
 */
function cachePlace(cache, version) {
  return path.join(cache, `v${version}-${process.platform}-${process.arch}-${revision}`);
}

/**
 * Returns the cache entry of other programs. It changes with their pinned dependencies.
 * @param {string} cache
 * @param {string} name
 * @param {string} version
 */
function programsPlace(cache, name, version) {
  return path.join(cache, `${name}-${version}-${process.platform}-${process.arch}`);
}

/**
 * Returns the engine in a cache entry, or undefined if it is missing or some of its files have been deleted.
 * @param {string} place
 * @param {string[]} names the files that it must contain
 * @returns {Engine | undefined}
 */
function cachedEngine(place, names = fileNames) {
  const bin = path.join(place, "bin");
  try {
    const marker = JSON.parse(fs.readFileSync(path.join(place, markerName), "utf8"));
    const whole = names.every((name) => fs.statSync(path.join(bin, name)).size === marker.bytes[name]);
    return whole ? { version: marker.version, bin, source: marker.source } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Creates the engine in `making`, checks that it runs, and then renames the directory to `place`.
 * @param {{ place: string, making: string, version: string, source: "download" | "build", names?: string[] }} target
 * @param {(bin: string) => Promise<void>} fill
 * @returns {Promise<Engine>}
 */
async function storeEngine({ place, making, version, source, names = fileNames }, fill) {
  const bin = path.join(making, "bin");
  try {
    await fs.promises.mkdir(bin, { recursive: true });
    await fill(bin);
    if (names === fileNames) {
      const actual = versionOf(path.join(bin, executable("pulumi")));
      if (actual !== version) throw new Error(`the engine has version ${actual}, expected ${version}`);
    }
    const bytes = Object.fromEntries(names.map((name) => [name, fs.statSync(path.join(bin, name)).size]));
    const marker = { version, source, bytes };
    await fs.promises.writeFile(path.join(making, markerName), JSON.stringify(marker, null, 2));
    await fs.promises.rm(place, { recursive: true, force: true });
    await fs.promises.rename(making, place);
    return { version, bin: path.join(place, "bin"), source };
  } finally {
    await fs.promises.rm(making, { recursive: true, force: true });
  }
}

/**
 * Deletes partial entries of killed runs. Only the owner of the lock may call it.
 * @param {string} place
 */
async function deletePartial(place) {
  const cache = path.dirname(place);
  for (const name of await fs.promises.readdir(cache)) {
    if (!name.startsWith(`${path.basename(place)}.making-`)) continue;
    await fs.promises.rm(path.join(cache, name), { recursive: true, force: true });
  }
}

module.exports = { cacheDirectory, cachePlace, programsPlace, cachedEngine, storeEngine, deletePartial };
