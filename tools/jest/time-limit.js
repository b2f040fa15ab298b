const childProcess = require("node:child_process");
const { setTimeout, clearTimeout } = require("node:timers");

/**
 * Ends what a test has started and waits for in vain, and fails the test with the command and what it said. It stays
 * below the time limit of a test, which would name neither.
 */
const limitMs = Number(process.env.RECOMMENDER_COMMAND_LIMIT_MS ?? 240_000);

/** On a new machine a compiler begins with all that our code depends on. @param {string} program */
const limitOf = (program) => (/(^|\/)(go|mvn)$/.test(program) ? 5 * limitMs : limitMs);

/** Services, providers and databases are meant to run until a test ends them, and esbuild until its caller ends. @param {string[]} command */
const runsOn = (command) =>
  command.some(
    (part) => part === "serve" || /dynamic-provider|versitygw|postgres.keep|^--service=/.test(part),
  );

/** What did not end since this was last asked. @type {string[]} */
const overdue = [];

/** @param {import("node:child_process").ChildProcess} child @param {string[]} command */
function limit(child, command) {
  const { currentTestName = "the set-up of a test" } = expect.getState();
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    // A listener would take the text from whoever comes later.
    const push = stream.push;
    stream.push = (chunk, ...rest) => {
      if (chunk !== null) output = (output + chunk).slice(-4000);
      return push.call(stream, chunk, ...rest);
    };
  }
  const mostMs = limitOf(command[0] ?? "");
  const timer = setTimeout(() => {
    overdue.push(
      `\`${command.join(" ")}\` was ended: it ran for more than ${mostMs / 1000} s in "${currentTestName}". ` +
        `Its output so far:\n${output || "(none)"}`,
    );
    child.kill("SIGKILL");
  }, mostMs);
  timer.unref();
  child.once("exit", () => clearTimeout(timer));
}

/**
 * Node's own modules are the same for all test files of a worker, so what stands there may be an earlier file's.
 * @template {Function} F
 * @param {any} holder
 * @param {string} name
 * @param {(usual: F) => F} around
 */
function wrap(holder, name, around) {
  const key = Symbol.for(`recommender.usual.${name}`);
  holder[key] ??= holder[name];
  holder[name] = around(holder[key]);
}

wrap(
  childProcess.ChildProcess.prototype,
  "spawn",
  (usual) =>
    /** @this {import("node:child_process").ChildProcess} @param {{ args: string[] }} options */
    function spawn(options) {
      const result = usual.call(this, options);
      if (!runsOn(options.args)) limit(this, options.args);
      return result;
    },
);
for (const name of ["spawnSync", "execFileSync"]) {
  wrap(childProcess, name, (usual) => (/** @type {string} */ file, /** @type {unknown[]} */ ...given) => {
    const limits = { timeout: limitOf(file), killSignal: "SIGKILL" };
    const args = Array.isArray(given[0]) ? given[0] : [];
    return usual(file, args, {
      ...limits,
      .../** @type {object} */ (given.at(-1) === args ? {} : given.at(-1)),
    });
  });
}

const tell = () => {
  const told = overdue.splice(0).join("\n");
  if (told) throw new Error(told);
};
afterEach(tell);
afterAll(tell);
