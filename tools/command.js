const { spawn } = require("node:child_process");
const path = require("node:path");

/** A program that was started ended with a failure it has already explained. */
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

/** @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv, stdout?: "inherit" | "ignore" | 2 }} RunOptions; 2: to stderr */

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
    // Ctrl-C reaches the child from the terminal too; it must be let finish its own way first.
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
 * npm, by the path it gave us when it started this run: on Windows it is a script that spawn refuses.
 * @param {string[]} args
 * @param {RunOptions} options
 */
function runNpm(args, options) {
  const npm = process.env.npm_execpath;
  return npm ? run(process.execPath, [npm, ...args], options) : run("npm", args, options);
}

/** Runs a command of this folder; an error is shown as its message alone. @param {() => Promise<void>} main */
function runCommand(main) {
  main().catch((error) => {
    console.error(`\n${error instanceof Error ? error.message : error}`);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : 1;
  });
}

module.exports = { CommandFailed, run, runNpm, runCommand };
