const { run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/** `npm run test:sequences [COUNT [SEED]]`: the random sequences of `npm test`, more of them and others each time. */
runCommand(async () => {
  const [count = "3000", seed = String(Date.now() & 0xffffffff)] = process.argv.slice(2);
  for (const [what, text] of Object.entries({ count, seed })) {
    if (!/^-?\d+$/.test(text))
      throw new Error(`${what} must be a whole number, not ${JSON.stringify(text)}.`);
  }
  await installPackages();
  const env = { ...process.env, SEQUENCES: count, SEED: seed };
  const jest = require.resolve("jest/bin/jest");
  await run(process.execPath, [jest, "--runTestsByPath", "test/faults/recovery.test.ts"], { cwd: root, env });
});
