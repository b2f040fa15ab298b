const childProcess = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
// Tests may replace the global timers with fake ones.
const { setTimeout, clearTimeout } = require("node:timers");

// Each test file gets its own recovery journal, because several files declare resources with the same names.
process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(process.env.XDG_STATE_HOME ?? os.tmpdir(), "file-"));

/**
 * Time limit for a command that a test starts. It is shorter than the time limit of a test, whose error would not name
 * the command.
 */
const limitMs = Number(process.env.RECOMMENDER_COMMAND_LIMIT_MS ?? 900_000);

/** On a new machine, Go and Maven first compile or download all dependencies. @param {string} program */
const limitOf = (program) => (/(^|\/)(go|mvn)$/.test(program) ? 5 * limitMs : limitMs);

/** Whether a command runs until a test stops it: services, providers, databases, esbuild. @param {string[]} command */
const isLongRunning = (command) =>
  command.some(
    (part) =>
      part === "serve" || /api-process|dynamic-provider|versitygw|postgres.run-server|^--service=/.test(part),
  );

/** Errors about killed commands, reported after the current test. @type {string[]} */
const timeouts = [];

/** Kills a command at its time limit. @param {childProcess.ChildProcess} child @param {string[]} command */
function limit(child, command) {
  const { currentTestName = "the setup of a test" } = expect.getState();
  const ms = limitOf(command[0] ?? "");
  const timer = setTimeout(() => {
    timeouts.push(
      `\`${command.join(" ")}\` was killed: it ran for more than ${ms / 1000} s in "${currentTestName}".`,
    );
    child.kill("SIGKILL");
  }, ms);
  timer.unref();
  child.once("exit", () => clearTimeout(timer));
}

/**
 * Replaces a function of a Node module. All test files of a worker share these modules, so the original is stored with it.
 * @param {any} holder
 * @param {string} name
 * @param {(original: Function) => Function} replace
 */
function patch(holder, name, replace) {
  const key = Symbol.for(`recommender.original.${name}`);
  holder[key] ??= holder[name];
  holder[name] = replace(holder[key]);
}

patch(
  childProcess.ChildProcess.prototype,
  "spawn",
  (original) =>
    /** @this {childProcess.ChildProcess} @param {{ args: string[] }} options */
    function spawn(options) {
      const result = original.call(this, options);
      if (!isLongRunning(options.args)) limit(this, options.args);
      return result;
    },
);
for (const name of ["spawnSync", "execFileSync"]) {
  patch(childProcess, name, (original) => (/** @type {string} */ file, /** @type {unknown[]} */ ...rest) => {
    const args = Array.isArray(rest[0]) ? rest.shift() : [];
    const options = /** @type {object | undefined} */ (rest[0]);
    return original(file, args, { timeout: limitOf(file), killSignal: "SIGKILL", ...options });
  });
}

const reportTimeouts = () => {
  const message = timeouts.splice(0).join("\n");
  if (message) throw new Error(message);
};
afterEach(reportTimeouts);
afterAll(reportTimeouts);
