const { existsSync, mkdtempSync, readFileSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { CommandFailed, run } = require("../command.js");
const { root } = require("../setup.js");

/** Resolved late, because the packages may not be installed yet. */
const jest = () => require.resolve("jest/bin/jest");

/** More failures than this are not caused by a busy machine. */
const filesOfSecondAttempt = 5;

/**
 * Runs all tests. Test files that fail run again after all others, one at a time: on a busy machine, a few of the
 * thousands of tests that start real processes can fail. The output names those that passed only in the second attempt.
 * @param {string[]} args arguments of jest
 * @param {Counted} counted
 * @param {NodeJS.ProcessEnv} [variables]
 * @param {string} [cwd] the directory with the configuration of jest
 */
async function runTestsTwice(args, counted, variables = {}, cwd = root) {
  const directory = mkdtempSync(path.join(tmpdir(), "recommender-failures-"));
  const file = path.join(directory, "failures.json");
  try {
    if (await runTests(args, counted, { ...variables, RECOMMENDER_FAILURES: file }, cwd)) return true;
    if (!existsSync(file)) return false;
    const { files, passedElsewhere } = JSON.parse(readFileSync(file, "utf8"));
    if (files.length === 0 || files.length > filesOfSecondAttempt) return false;
    const names = files.map((/** @type {string} */ name) => path.relative(cwd, name));
    console.log(`\nSecond attempt, without other tests at the same time: ${names.join(", ")}`);
    const passed = counted.passed + passedElsewhere;
    return await runTests(
      ["--runInBand", "--runTestsByPath", ...files],
      { ...counted, passed },
      { ...variables, RECOMMENDER_ATTEMPT: "second" },
      cwd,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** @typedef {{ passed: number, failed: number }} Counted what the last line counts besides the tests of this run */

/**
 * Runs jest, which prints the failures. Returns whether all tests passed.
 * @param {string[]} args
 * @param {Counted} counted
 * @param {NodeJS.ProcessEnv} [variables]
 * @param {string} [cwd]
 */
async function runTests(args, { passed, failed }, variables = {}, cwd = root) {
  const env = { ...process.env, ...variables, RECOMMENDER_COUNTED: `${passed} ${failed}` };
  try {
    await run(process.execPath, [jest(), ...args], { cwd, env });
    return true;
  } catch (error) {
    if (error instanceof CommandFailed) return false;
    throw error;
  }
}

module.exports = { jest, runTests, runTestsTwice };
