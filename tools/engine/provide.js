const { randomUUID } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { cacheDirectory, cachePlace, cachedEngine, keepEngine, sweepHalfMade } = require("./cache.js");
const { withLock } = require("./lock.js");
const { engineOnPath } = require("./on-path.js");
const { pinnedVersion, oldestVersion, officialBase, pinnedPrograms } = require("./pinned.js");
const { Progress } = require("./progress.js");
const { NoEngine, reasonOf } = require("./way.js");

/** @typedef {import("./way.js").Engine} Engine */

/**
 * @typedef {object} ProvideOptions
 * @property {NodeJS.ProcessEnv} [env] where PATH and the settings are read
 * @property {string} [version]
 * @property {import("./pinned.js").GoProgram[]} [programs]
 * @property {Progress} [progress]
 * @property {number} [staleLockMs] after which an untouched lock counts as left by a dead process
 */

/**
 * Finds a working engine or makes one: on PATH, in the cache, by download, by building it.
 * @param {ProvideOptions} [options]
 * @returns {Promise<Engine>}
 */
async function provideEngine(options = {}) {
  const { env = process.env, version = pinnedVersion, progress = new Progress() } = options;
  /** @type {{ way: string, error: unknown }[]} */
  const closed = [];
  try {
    return engineOnPath({ searchPath: env.PATH ?? env.Path ?? "", oldestVersion });
  } catch (error) {
    closed.push({ way: "an engine on PATH", error });
  }

  const place = cachePlace(cacheDirectory(env), version);
  const cached = cachedEngine(place);
  if (cached !== undefined) return cached;

  await fs.promises.mkdir(path.dirname(place), { recursive: true });
  let waited = false;
  const onWait = () => {
    if (waited) return progress.at("still waiting for the other run");
    waited = true;
    progress.say("another run is preparing the same engine; waiting for it");
  };
  return withLock({ place, staleMs: options.staleLockMs ?? 10_000, onWait }, async () => {
    await sweepHalfMade(place);
    return cachedEngine(place) ?? (await makeEngine({ ...options, env, version, progress }, place, closed));
  });
}

/**
 * @param {ProvideOptions & { env: NodeJS.ProcessEnv, version: string, progress: Progress }} options
 * @param {string} place
 * @param {{ way: string, error: unknown }[]} closed
 */
async function makeEngine({ env, version, programs = pinnedPrograms, progress }, place, closed) {
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupt = (/** @type {NodeJS.Signals} */ name) =>
    interruption.abort(new Error(`stopped by ${name}`));
  const target = { place, making: `${place}.making-${randomUUID()}`, version };
  const base = env.RECOMMENDER_ENGINE_DOWNLOAD ?? officialBase;

  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    progress.say(`no engine yet (${reasonOf(closed[0]?.error)}); it is kept in ${place}`);
    try {
      // The HTTP client takes longer to load than the usual run takes in all.
      const { downloadEngine } = require("./download.js");
      return await keepEngine({ ...target, source: "download" }, (bin) =>
        downloadEngine({ version, base, bin, progress, signal }),
      );
    } catch (error) {
      signal.throwIfAborted();
      progress.say(`no download: ${reasonOf(error)}`);
      closed.push({ way: "the official download", error });
    }
    try {
      const { buildEngine } = require("./build.js");
      return await keepEngine({ ...target, source: "build" }, (bin) =>
        buildEngine({ version, programs, bin, progress, signal, env }),
      );
    } catch (error) {
      signal.throwIfAborted();
      closed.push({ way: "a build from source", error });
    }
    throw new NoEngine(closed);
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

module.exports = { provideEngine };
