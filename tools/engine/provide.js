const { createHash, randomUUID } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const {
  cacheDirectory,
  cachePlace,
  cachedEngine,
  keepEngine,
  programsPlace,
  sweepHalfMade,
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
  return fromCache({ place, progress, staleLockMs: options.staleLockMs }, () =>
    makeEngine({ ...options, env, version, progress }, place, closed),
  );
}

/**
 * Finds the language hosts of Python and YAML or builds them: on PATH, in the cache, by building them.
 * @param {Omit<ProvideOptions, "version">} [options]
 * @returns {Promise<{ bin: string }>}
 */
function provideHosts({ programs = pinnedHosts, ...options } = {}) {
  return providePrograms("hosts", "language hosts of Python and YAML", { ...options, programs });
}

/**
 * Finds the S3 server that tests use or builds it, in the same way.
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
 * Provides everything the tests need. Tests that need a program which this machine cannot provide are listed as not run.
 * @returns {Promise<Engine>}
 */
async function provideForTests() {
  const engine = await provideEngine();
  if (!whyUnavailable("hosts")) await provideHosts();
  if (!whyUnavailable("bucket-server")) await provideBucketServer();
  return engine;
}

/**
 * @param {string} name of their place in the cache
 * @param {string} words what they are
 * @param {Omit<ProvideOptions, "version"> & { programs: import("./pinned.js").GoProgram[] }} options
 * @returns {Promise<{ bin: string }>}
 */
async function providePrograms(
  name,
  words,
  { env = process.env, programs, progress = new Progress(), staleLockMs },
) {
  const { bin, place, version, names } = locatePrograms(name, programs, env);
  if (bin !== undefined) return { bin };
  return fromCache({ place, progress, staleLockMs, names }, () =>
    interruptible(async (signal) => {
      progress.say(`no ${words} yet; kept in ${place}`);
      const { buildPrograms } = require("./build.js");
      const making = `${place}.making-${randomUUID()}`;
      return keepEngine({ place, making, version, source: "build", names }, (bin) =>
        buildPrograms({ version, programs, bin, progress, signal, env }),
      );
    }),
  );
}

/**
 * Looks for programs on PATH, beside the engine (the official download has the language hosts), and in the cache.
 * @param {string} name
 * @param {import("./pinned.js").GoProgram[]} programs
 * @param {NodeJS.ProcessEnv} env
 */
function locatePrograms(name, programs, env) {
  const names = programs.flatMap(({ name, beside }) => [executable(name), ...(beside ? [beside] : [])]);
  const engine = path.join(cachePlace(cacheDirectory(env), pinnedVersion), "bin");
  const folders = [...(env.PATH ?? env.Path ?? "").split(path.delimiter), engine];
  const found = folders.find((folder) => names.every((name) => fs.existsSync(path.join(folder, name))));

  const pins = programs.map(({ directory }) => fs.readFileSync(path.join(directory, "go.mod")));
  const version = createHash("sha256").update(Buffer.concat(pins)).digest("hex").slice(0, 12);
  const place = programsPlace(cacheDirectory(env), name, version);
  return { bin: found ?? cachedEngine(place, names)?.bin, place, version, names };
}

/**
 * The reason why programs can be neither found nor built on this machine, or undefined if they can.
 * @param {"hosts" | "bucket-server"} name
 * @param {NodeJS.ProcessEnv} [env]
 */
function whyUnavailable(name, env = process.env) {
  const programs = name === "hosts" ? pinnedHosts : pinnedBucketServer;
  if (locatePrograms(name, programs, env).bin !== undefined) return undefined;
  const folders = (env.PATH ?? env.Path ?? "").split(path.delimiter);
  if (folders.some((folder) => fs.existsSync(path.join(folder, executable("go"))))) return undefined;
  return `there is no \`${programs.map(({ name }) => name).join("` or `")}\` on PATH, and no \`go\` to build it`;
}

/**
 * What the cache holds at a place, or what is made for it, by one run at a time.
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
    if (waited) return progress.at("still waiting for the other run");
    waited = true;
    progress.say("another run is preparing the same engine; waiting for it");
  };
  return withLock({ place, staleMs: staleLockMs, onWait }, async () => {
    await sweepHalfMade(place);
    return cachedEngine(place, names) ?? (await make());
  });
}

/**
 * Does work that stops when the process is asked to end.
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
 * @param {{ way: string, error: unknown }[]} closed
 */
async function makeEngine({ env, version, programs = pinnedPrograms, progress }, place, closed) {
  const target = { place, making: `${place}.making-${randomUUID()}`, version };
  const base = env.RECOMMENDER_ENGINE_DOWNLOAD ?? officialBase;
  return interruptible(async (signal) => {
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
  });
}

module.exports = { provideEngine, provideForTests, provideHosts, provideBucketServer, whyUnavailable };
