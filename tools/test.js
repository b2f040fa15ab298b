const { CommandFailed, run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm test`: the set-up, the checks of the code, and all tests but those that jest.config.js leaves to
 * `npm test -- --all`. With other arguments, which are jest's, what they name; with `--changed`, only what a change touches.
 */
runCommand(async () => {
  const [first = "", ...rest] = process.argv.slice(2);
  if (/^--changed(=|$)/.test(first)) return testChanged(first.split("=")[1], rest);
  const isShort = first === "";
  const checks = await setUpAndCheck({ withPackage: !isShort });
  const failed = checks.filter(({ passed }) => !passed).length;

  // The tests run even if a check failed, and the last line of the run counts both.
  const short = isShort ? { RECOMMENDER_TESTS: "short", SEQUENCES: process.env.SEQUENCES ?? "20" } : {};
  const env = { ...process.env, ...short, RECOMMENDER_CHECKS: `${checks.length - failed} ${failed}` };
  const named = first === "--all" ? rest : process.argv.slice(2);
  try {
    await run(process.execPath, [jest(), ...named], { cwd: root, env });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    // Jest has said it all, and its last line is to stay the last.
    process.exitCode = error.exitCode;
  }
  if (failed > 0) process.exitCode = 1;
});

/** Known once the packages are installed. */
const jest = () => require.resolve("jest/bin/jest");

/**
 * The tests that import a file which is not committed, or which differs from a commit. Those that drive the engine and
 * the checks take longer than seconds; the random sequences are fewer.
 * @param {string | undefined} commit
 * @param {string[]} rest arguments of jest
 */
async function testChanged(commit, rest) {
  await installPackages();
  const which = commit ? `--changedSince=${commit}` : "--onlyChanged";
  const args = [jest(), which, "--passWithNoTests", "--testPathIgnorePatterns", "/test/engine/", ...rest];
  await run(process.execPath, args, { cwd: root, env: { SEQUENCES: "20", ...process.env } });
}

/** Without the set-up nothing can be tested, which is one failure. @param {{ withPackage: boolean }} options */
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
