const { run, runCommand } = require("./command.js");
const { jest, runTests, runTestsTwice } = require("./jest/attempts.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm test`: sets up, checks the code and runs the tests. tools/jest/README.md explains the steps.
 *
 * - `npm test -- --all` adds the checks of the package and the slow tests of jest.config.js.
 * - With `--all`, or if CI is set, test files that failed get a second attempt.
 * - `npm test -- --changed[=COMMIT]` only runs tests that import a changed file.
 * - Other arguments go to jest, such as `npm test -- test/client`.
 */
runCommand(async () => {
  const [first = "", ...rest] = process.argv.slice(2);
  if (/^--changed(=|$)/.test(first)) return testChanged(first.split("=")[1], rest);
  const isShort = first === "";
  const checks = await setUpAndCheck({ withPackage: !isShort });
  const failed = checks.filter(({ passed }) => !passed).length;

  // The tests run even if a check failed. The last line counts both.
  const counted = { passed: checks.length - failed, failed };
  const isAll = first === "--all";
  const args = isAll ? rest : process.argv.slice(2);
  const attempt = isAll || process.env.CI ? runTestsTwice : runTests;
  const testsPassed = await attempt(args, counted, isShort ? { RECOMMENDER_TESTS: "short" } : {});
  if (failed > 0 || !testsPassed) process.exitCode = 1;
});

/**
 * Runs the tests that import a file which differs from the last commit or from the given one. Leaves out the checks and
 * the tests with the engine, and runs fewer random sequences, to finish within seconds.
 * @param {string | undefined} commit
 * @param {string[]} rest arguments of jest
 */
async function testChanged(commit, rest) {
  await installPackages();
  const which = commit ? `--changedSince=${commit}` : "--onlyChanged";
  const args = [jest(), which, "--passWithNoTests", "--testPathIgnorePatterns", "/test/engine/", ...rest];
  await run(process.execPath, args, { cwd: root, env: { SEQUENCES: "20", ...process.env } });
}

/** If the setup fails, no test can run, and that counts as one failure. @param {{ withPackage: boolean }} options */
async function setUpAndCheck(options) {
  try {
    await installPackages();
    await require("./engine/provide.js").provideForTests();
    return await require("./check.js").check(options);
  } catch (error) {
    process.once("exit", () => console.log("0 passed, 1 failed"));
    throw error;
  }
}
