const { CommandFailed, run, runCommand } = require("./command.js");
const { buildForTests, installPackages, root } = require("./setup.js");

/** `npm test [-- <arguments of jest>]`: the set-up, the checks, all tests. */
runCommand(async () => {
  const checks = await setUpAndCheck();
  const failed = checks.filter(({ passed }) => !passed).length;

  // The tests run even if a check failed, and the last line of the run counts both.
  const env = { ...process.env, RECOMMENDER_CHECKS: `${checks.length - failed} ${failed}` };
  const jest = require.resolve("jest/bin/jest");
  try {
    await run(process.execPath, [jest, ...process.argv.slice(2)], { cwd: root, env });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    // Jest has said it all, and its last line is to stay the last.
    process.exitCode = error.exitCode;
  }
  if (failed > 0) process.exitCode = 1;
});

/** Without the set-up nothing can be tested, which is one failure. */
async function setUpAndCheck() {
  try {
    await installPackages();
    await buildForTests();
    await require("./engine/provide.js").provideEngine();
    return await require("./check.js").check();
  } catch (error) {
    process.once("exit", () => console.log("0 passed, 1 failed"));
    throw error;
  }
}
