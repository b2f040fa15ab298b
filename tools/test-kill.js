const { run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/** `npm run test:kill [KILLS [SEED]]`: the kill test of `npm test` at length. */
runCommand(async () => {
  const [kills = "100", seed] = process.argv.slice(2);
  for (const [what, text] of Object.entries({ kills, seed: seed ?? "0" })) {
    if (!/^\d+$/.test(text)) throw new Error(`${what} must be a whole number, not ${JSON.stringify(text)}.`);
  }
  await installPackages();
  const env = { ...process.env, KILLS: kills, ...(seed !== undefined && { KILL_SEED: seed }) };
  const jest = require.resolve("jest/bin/jest");
  // The whole path: other tests have kills in their names too.
  await run(process.execPath, [jest, "--runTestsByPath", "test/engine/kill.test.ts"], { cwd: root, env });
});
