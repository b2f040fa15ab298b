const { createHash, randomUUID } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const {
  cacheDirectory,
  cachePlace,
  cachedEngine,
  storeEngine,
  programsPlace,
  deletePartial,
} = require("./cache.js");
const { withLock } = require("./lock.js");
const { engineOnPath } = require("./on-path.js");
const {
  pinnedVersion,
  oldestVersion,
  officialBase,
  pinnedBucketServer,
  pinnedHosts,
  pinnedPrograms,
} = require("./pinned.js");
const { executable } = require("./programs.js");
const { Progress } = require("./progress.js");
const { NoEngine, reasonOf } = require("./errors.js");

/** @typedef {import("./errors.js").Engine} Engine */

/**
 * @typedef {object} ProvideOptions
 * @property {NodeJS.ProcessEnv} [env] the environment with PATH and the settings
 * @property {string} [version]
 * @property {import("./pinned.js").GoProgram[]} [programs]
 * @property {Progress} [progress]
 * @property {number} [staleLockMs] the age at which the lock of a dead process expires
 */

/**
 * Returns a working engine: from PATH or the cache, or else by download or by a build from source.
 * @param {ProvideOptions} [options]
 * @returns {Promise<Engine>}
 */
async function provideEngine(options = {}) {
  const { env = process.env, version = pinnedVersion, progress = new Progress() } = options;
  /** @type {{ source: string, error: unknown }[]} */
  const failures = [];
  try {
    return engineOnPath({ searchPath: env.PATH ?? env.Path ?? "", oldestVersion });
  } catch (error) {
    failures.push({ source: "an engine on PATH", error });
  }

  const place = cachePlace(cacheDirectory(env), version);
  return fromCache({ place, progress, staleLockMs: options.staleLockMs }, () =>
    makeEngine({ ...options, env, version, progress }, place, failures),
  );
}

/**
 * Returns the language hosts of Python and YAML: from PATH or the cache, or else by a build from source.
 * @param {Omit<ProvideOptions, "version">} [options]
 * @returns {Promise<{ bin: string }>}
 */
function provideHosts({ programs = pinnedHosts, ...options } = {}) {
  return providePrograms("hosts", "language hosts of Python and YAML", { ...options, programs });
}

/**
 * Returns the S3 server for the tests, in the same way.
 * @param {Omit<ProvideOptions, "version">} [options]
 * @returns {Promise<{ bin: string }>}
 */
function provideBucketServer({ progress = new Progress(process.stderr, "S3 server"), ...options } = {}) {
  return providePrograms("bucket-server", "S3 server for the tests", {
    ...options,
    programs: options.programs ?? pinnedBucketServer,
    progress,
  });
}

/**
 * Provides everything the tests need. If a program cannot be provided, the tests that need it are listed as not run.
 * @returns {Promise<Engine>}
 */
async function provideForTests() {
  const engine = await provideEngine();
  if (!whyUnavailable("hosts")) await provideHosts();
  if (!whyUnavailable("bucket-server")) await provideBucketServer();
  return engine;
}

/**
 * @param {string} name the start of the name of their cache entry
 * @param {string} description printed before the build
 * @param {Omit<ProvideOptions, "version"> & { programs: import("./pinned.js").GoProgram[] }} options
 * @returns {Promise<{ bin: string }>}
 */
async function providePrograms(
  name,
  description,
  { env = process.env, programs, progress = new Progress(), staleLockMs },
) {
  const { bin, place, version, names } = locatePrograms(name, programs, env);
  if (bin !== undefined) return { bin };
  return fromCache({ place, progress, staleLockMs, names }, () =>
    interruptible(async (signal) => {
      progress.say(`building the ${description} into ${place}`);
      const { buildPrograms } = require("./build.js");
      const making = `${place}.making-${randomUUID()}`;
      return storeEngine({ place, making, version, source: "build", names }, (bin) =>
        buildPrograms({ version, programs, bin, progress, signal, env }),
      );
    }),
  );
}

/**
 * Searches for programs on PATH, next to the engine (the official download contains language hosts) and in the cache.
 * @param {string} name
 * @param {import("./pinned.js").GoProgram[]} programs
 * @param {NodeJS.ProcessEnv} env
 */
function locatePrograms(name, programs, env) {
  const names = programs.flatMap(({ name, companion }) => [
    executable(name),
    ...(companion ? [companion] : []),
  ]);
  const engine = path.join(cachePlace(cacheDirectory(env), pinnedVersion), "bin");
  const directories = [...(env.PATH ?? env.Path ?? "").split(path.delimiter), engine];
  const found = directories.find((directory) =>
    names.every((name) => fs.existsSync(path.join(directory, name))),
  );

  const pins = programs.map(({ directory }) => fs.readFileSync(path.join(directory, "go.mod")));
  const version = createHash("sha256").update(Buffer.concat(pins)).digest("hex").slice(0, 12);
  const place = programsPlace(cacheDirectory(env), name, version);
  return { bin: found ?? cachedEngine(place, names)?.bin, place, version, names };
}

/**
 * Returns the reason why this machine has neither the programs nor Go to build them, or undefined if it has.
 * @param {"hosts" | "bucket-server"} name
 * @param {NodeJS.ProcessEnv} [env]
 */
function whyUnavailable(name, env = process.env) {
  const programs = name === "hosts" ? pinnedHosts : pinnedBucketServer;
  if (locatePrograms(name, programs, env).bin !== undefined) return undefined;
  const directories = (env.PATH ?? env.Path ?? "").split(path.delimiter);
  if (directories.some((directory) => fs.existsSync(path.join(directory, executable("go")))))
    return undefined;
  return `there is no \`${programs.map(({ name }) => name).join("` or `")}\` on PATH, and no \`go\` to build it`;
}

/**
 * Returns a cache entry, and creates it if it is missing. A lock prevents two runs from creating it.
 * @param {{ place: string, progress: Progress, staleLockMs: number | undefined, names?: string[] }} options
 * @param {() => Promise<Engine>} make
 * @returns {Promise<Engine>}
 */
async function fromCache({ place, progress, staleLockMs = 10_000, names }, make) {
  const cached = cachedEngine(place, names);
  if (cached !== undefined) return cached;

  await fs.promises.mkdir(path.dirname(place), { recursive: true });
  let waited = false;
  const onWait = () => {
    if (waited) return progress.at("still waiting for the other process");
    waited = true;
    progress.say("waiting for another process that is preparing the same engine");
  };
  return withLock({ place, staleMs: staleLockMs, onWait }, async () => {
    await deletePartial(place);
    return cachedEngine(place, names) ?? (await make());
  });
}

/**
 * Runs `work` with a signal that aborts on SIGINT and SIGTERM.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function interruptible(work) {
  const interruption = new AbortController();
  const interrupt = (/** @type {NodeJS.Signals} */ name) =>
    interruption.abort(new Error(`stopped by ${name}`));
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    return await work(interruption.signal);
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

/**
 * @param {ProvideOptions & { env: NodeJS.ProcessEnv, version: string, progress: Progress }} options
 * @param {string} place
 * @param {{ source: string, error: unknown }[]} failures
 */
async function makeEngine({ env, version, programs = pinnedPrograms, progress }, place, failures) {
  const target = { place, making: `${place}.making-${randomUUID()}`, version };
  const base = env.RECOMMENDER_ENGINE_DOWNLOAD ?? officialBase;
  return interruptible(async (signal) => {
    progress.say(`preparing an engine in ${place}, because ${reasonOf(failures[0]?.error)}`);
    try {
      // Loaded late, because the HTTP client takes longer to load than a run that finds the engine in the cache.
      const { downloadEngine } = require("./download.js");
      return await storeEngine({ ...target, source: "download" }, (bin) =>
        downloadEngine({ version, base, bin, progress, signal }),
      );
    } catch (error) {
      signal.throwIfAborted();
      progress.say(`download failed: ${reasonOf(error)}`);
      failures.push({ source: "the official download", error });
    }
    try {
      const { buildEngine } = require("./build.js");
      return await storeEngine({ ...target, source: "build" }, (bin) =>
        buildEngine({ version, programs, bin, progress, signal, env }),
      );
    } catch (error) {
      signal.throwIfAborted();
      failures.push({ source: "a build from source", error });
    }
    throw new NoEngine(failures);
  });
}

module.exports = { provideEngine, provideForTests, provideHosts, provideBucketServer, whyUnavailable };
