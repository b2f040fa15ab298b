const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { run } = require("./command.js");
const { executable } = require("./engine/programs.js");
const { root } = require("./setup.js");

/** @typedef {import("./engine/way.js").Engine} Engine */

/** The stack that `npm start` brings up. */
const stackName = "local";
const backendDirectory = path.join(root, ".pulumi-local");

/**
 * The environment in which the engine works on the local stack. What the user has set wins.
 * @param {Engine} engine
 * @returns {NodeJS.ProcessEnv}
 */
function engineEnvironment(engine) {
  const searchPath = `${engine.bin}${path.delimiter}${process.env.PATH ?? ""}`;
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...{ PULUMI_SKIP_UPDATE_CHECK: "1", PULUMI_NODEJS_TRANSPILE_ONLY: "true" },
    // On a CI runner a stack must say that it wants a service of its own; the quick start does.
    ...(process.env.CI && { RECOMMENDER_BASE_URL: "embedded:.recommender" }),
    ...process.env,
  };
  if (env.PULUMI_BACKEND_URL) return { ...env, PATH: searchPath };
  fs.mkdirSync(backendDirectory, { recursive: true });
  return {
    // The state of this stack never leaves the machine; without a passphrase the engine would ask for one.
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

/** Brings the quick-start program up on the local stack. @param {Engine} engine */
async function bringUp(engine) {
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
 * A killed engine leaves its lock behind, which names its process; `up` would wait for it in vain.
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
 * What the engine knows of the local stack.
 * @param {Engine} engine
 * @returns {{ resources: { type: string, urn: string, id?: string }[], outputs: Record<string, unknown>,
 *   pendingOperations: number }}
 */
function readState(engine) {
  const program = path.join(engine.bin, executable("pulumi"));
  const args = ["stack", "export", "--stack", stackName];
  const ran = spawnSync(program, args, { cwd: root, env: engineEnvironment(engine), encoding: "utf8" });
  if (ran.status !== 0)
    throw new Error(`The state of stack ${stackName} cannot be read: ${ran.stderr.trim()}`);
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

module.exports = { stackName, engineEnvironment, pulumi, bringUp, readState };
