const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { run } = require("./command.js");
const { executable } = require("./engine/programs.js");
const { root } = require("./setup.js");

/** @typedef {import("./engine/errors.js").Engine} Engine */

/** The stack that `npm start` creates. */
const stackName = "local";
const backendDirectory = path.join(root, ".pulumi-local");

/**
 * Returns the environment of engine commands on the local stack. Variables that the user has set win.
 * @param {Engine} engine
 * @returns {NodeJS.ProcessEnv}
 */
function engineEnvironment(engine) {
  const searchPath = `${engine.bin}${path.delimiter}${process.env.PATH ?? ""}`;
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    PULUMI_SKIP_UPDATE_CHECK: "1",
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
    // On a CI runner, a stack must request the embedded service explicitly.
    ...(process.env.CI && { RECOMMENDER_BASE_URL: "embedded:.recommender" }),
    ...process.env,
  };
  if (env.PULUMI_BACKEND_URL) return { ...env, PATH: searchPath };
  fs.mkdirSync(backendDirectory, { recursive: true });
  return {
    // Without a passphrase, the engine would prompt for one. This state never leaves the machine.
    PULUMI_CONFIG_PASSPHRASE: "local",
    ...env,
    PULUMI_BACKEND_URL: `file://${backendDirectory.split(path.sep).join("/")}`,
    PATH: searchPath,
  };
}

/**
 * Runs the engine in the user's terminal.
 * @param {Engine} engine
 * @param {string[]} args
 * @param {"inherit" | "ignore"} [stdout]
 */
function pulumi(engine, args, stdout) {
  const env = engineEnvironment(engine);
  const options = { cwd: root, env, ...(stdout && { stdout }) };
  return run(path.join(engine.bin, executable("pulumi")), args, options);
}

/** Runs the quick-start program on the local stack, and repairs what a killed run left behind. @param {Engine} engine */
async function updateStack(engine) {
  await pulumi(engine, ["stack", "select", stackName, "--create", "--non-interactive"], "ignore");
  const state = readState(engine);
  if (ownersAreDead(lockOwners())) await pulumi(engine, ["cancel", "--yes", "--stack", stackName]);
  if (state.pendingOperations > 0) {
    const clear = ["refresh", "--yes", "--skip-preview", "--clear-pending-creates", "--stack", stackName];
    await pulumi(engine, clear);
  }
  await pulumi(engine, ["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", stackName]);
}

/**
 * Returns the processes that have locked the stack. A killed engine leaves its lock behind, and `up` cannot run
 * until it is removed.
 * @returns {{ pid: number, hostname: string }[]}
 */
function lockOwners() {
  const locks = path.join(backendDirectory, ".pulumi", "locks");
  if (process.env.PULUMI_BACKEND_URL || !fs.existsSync(locks)) return [];
  const files = fs.readdirSync(locks, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(fs.readFileSync(path.join(locks, file), "utf8")));
}

/** @param {{ pid: number, hostname: string }[]} owners */
function ownersAreDead(owners) {
  return (
    owners.length > 0 && owners.every(({ pid, hostname }) => hostname === os.hostname() && !isAlive(pid))
  );
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Reads the state of the local stack.
 * @param {Engine} engine
 * @returns {{ resources: { type: string, urn: string, id?: string }[], outputs: Record<string, unknown>,
 *   pendingOperations: number }}
 */
function readState(engine) {
  const program = path.join(engine.bin, executable("pulumi"));
  const args = ["stack", "export", "--stack", stackName];
  const ran = spawnSync(program, args, { cwd: root, env: engineEnvironment(engine), encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`Cannot read the state of stack ${stackName}: ${ran.stderr.trim()}`);
  const { resources = [], pending_operations: pending = [] } = JSON.parse(ran.stdout).deployment;
  const isStack = (/** @type {{ type: string }} */ { type }) => type === "pulumi:pulumi:Stack";
  return {
    resources: resources.filter(
      (/** @type {{ type: string }} */ resource) => !/^pulumi:/.test(resource.type),
    ),
    outputs: resources.find(isStack)?.outputs ?? {},
    pendingOperations: pending.length,
  };
}

module.exports = { stackName, engineEnvironment, pulumi, updateStack, readState };
