const { run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

const anySeed = String(Date.now() & 0xffffffff);

/**
 * What `npm test` does shortly, at length: the test files, and the variables for the numbers on the command line.
 * @type {Record<string, { files: string[], numbers: [variable: string, usual?: string][] }>}
 */
const tests = {
  /** `npm run test:kill [KILLS [SEED]]`: the engine is killed at random moments. */
  kill: { files: ["test/engine/kill.test.ts"], numbers: [["KILLS", "100"], ["KILL_SEED"]] },
  /** `npm run test:chaos [KILLS [SEED]]`: processes over PostgreSQL, their connections and the database suffer faults at random moments. */
  chaos: {
    files: ["test/service/chaos.test.ts"],
    numbers: [
      ["CHAOS_KILLS", "100"],
      ["CHAOS_SEED", anySeed],
    ],
  },
  /** `npm run test:sequences [COUNT [SEED]]`: random sequences of faults, walks over the engine's options, and sequences of uploads. */
  sequences: {
    files: ["test/faults/recovery.test.ts", "test/faults/walk.test.ts", "test/records/sequences.test.ts"],
    numbers: [
      ["SEQUENCES", "3000"],
      ["SEED", anySeed],
    ],
  },
  /** `npm run test:faults [ROUNDS]`: each cell of the table of faults, over each carrier. */
  faults: { files: ["test/faults/table.test.ts"], numbers: [["ROUNDS", "2"]] },
  /** `npm run test:walk [STEPS [SEED]]`: a walk over the real engine's options. */
  walk: {
    files: ["test/engine/walk.test.ts"],
    numbers: [
      ["STEPS", "100"],
      ["WALK_SEED", anySeed],
    ],
  },
  /** `npm run test:attacks [CONNECTIONS]`: a service stays quick and small under each attack; run it on a quiet machine. */
  attacks: { files: ["test/service/attacks.test.ts"], numbers: [["ATTACK_CONNECTIONS", "60"]] },
  /** `npm run test:backup [KILLS]`: exports and restores are killed at random moments. */
  backup: { files: ["test/service/backup/broken-off.test.ts"], numbers: [["KILLS", "20"]] },
  /** `npm run test:files [MEGABYTES]`: a model of so much is written and read. */
  files: { files: ["test/service/files/model-format.test.ts"], numbers: [["MODEL_MEGABYTES", "2200"]] },
  /** `npm run fuzz [CASES [SEED]]`: odd requests to the service. */
  fuzz: {
    files: ["test/service/http/fuzz.test.ts"],
    numbers: [
      ["FUZZ_CASES", "10000"],
      ["FUZZ_SEED", anySeed],
    ],
  },
};

runCommand(async () => {
  const [name = "", ...given] = process.argv.slice(2);
  const test = tests[name];
  if (!test) throw new Error(`Expected one of ${Object.keys(tests).join(", ")}.`);
  const env = { ...process.env };
  test.numbers.forEach(([variable, usual], at) => {
    const text = given[at] ?? usual;
    if (text === undefined) return;
    if (!/^-?\d+$/.test(text))
      throw new Error(`${variable} must be a whole number, not ${JSON.stringify(text)}.`);
    env[variable] = text;
  });
  await installPackages();
  const jest = require.resolve("jest/bin/jest");
  // The whole path: other tests may have the same words in their names.
  await run(process.execPath, [jest, "--runTestsByPath", ...test.files], { cwd: root, env });
});
