const { spawn } = require("node:child_process");
const path = require("node:path");

/** A program failed and has already printed the reason. */
class CommandFailed extends Error {
  /**
   * @param {string} command
   * @param {number} exitCode
   */
  constructor(command, exitCode) {
    super(`\`${command}\` failed with exit code ${exitCode}.`);
    this.name = "CommandFailed";
    this.exitCode = exitCode;
  }
}

/** @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, stdout?: "inherit" | "ignore" | 2 }} RunOptions `stdout: 2` sends it to stderr */

/**
 * Runs a program in the user's terminal until it ends.
 * @param {string} program
 * @param {string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<void>}
 */
function run(program, args, { cwd, env = process.env, stdout = "inherit" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["inherit", stdout, "inherit"] });
    // The terminal sends Ctrl+C to the child too. This process waits until the child has cleaned up.
    const pass = (/** @type {NodeJS.Signals} */ name) => name === "SIGTERM" && child.kill(name);
    process.on("SIGINT", pass).on("SIGTERM", pass);
    const settled = () => process.off("SIGINT", pass).off("SIGTERM", pass);
    child.on("error", (error) => {
      settled();
      reject(error);
    });
    child.on("close", (code, signal) => {
      settled();
      if (code === 0) resolve();
      else
        reject(
          new CommandFailed(
            [path.basename(program), ...args].join(" "),
            code ?? (signal === "SIGINT" ? 130 : 1),
          ),
        );
    });
  });
}

/**
 * Runs npm. On Windows, `npm` is a script that `spawn` cannot start, so this uses the path that npm passes to its scripts.
 * @param {string[]} args
 * @param {RunOptions} options
 */
function runNpm(args, options) {
  const npm = process.env.npm_execpath;
  return npm ? run(process.execPath, [npm, ...args], options) : run("npm", args, options);
}

/** Runs the main function of a script. If it fails, prints the message without a stack trace. @param {() => Promise<void>} main */
function runCommand(main) {
  main().catch((error) => {
    console.error(`\n${error instanceof Error ? error.message : error}`);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : 1;
  });
}

module.exports = { CommandFailed, run, runNpm, runCommand };
