const { run, runCommand } = require("./command.js");
const { installPackages, root } = require("./setup.js");

const randomSeed = String(Date.now() & 0xffffffff);

/**
 * Long forms of tests that `npm test` runs in a short form: the test files, and the environment variables that are set
 * to the numbers on the command line or to their defaults.
 * @type {Record<string, { files: string[], numbers: [variable: string, fallback?: string][] }>}
 */
const tests = {
  /** `npm run test:kill [KILLS [SEED]]`: kills the engine at random moments. */
  kill: { files: ["test/engine/kill.test.ts"], numbers: [["KILLS", "100"], ["KILL_SEED"]] },
  /** `npm run test:promotions [KILLS [SEED]]`: kills promotions of a bad model, and their watch, at random moments. */
  promotions: {
    files: ["test/engine/watched-kills.test.ts"],
    numbers: [
      ["RELEASE_KILLS", "20"],
      ["RELEASE_SEED", randomSeed],
    ],
  },
  /** `npm run test:chaos [KILLS [SEED]]`: causes faults in services, connections and PostgreSQL at random moments. */
  chaos: {
    files: ["test/service/chaos.test.ts"],
    numbers: [
      ["CHAOS_KILLS", "100"],
      ["CHAOS_SEED", randomSeed],
    ],
  },
  /** `npm run test:sequences [COUNT [SEED]]`: runs random sequences of faults, engine options and uploads. */
  sequences: {
    files: ["test/faults/recovery.test.ts", "test/faults/walk.test.ts", "test/records/sequences.test.ts"],
    numbers: [
      ["SEQUENCES", "3000"],
      ["SEED", randomSeed],
    ],
  },
  /** `npm run test:faults [ROUNDS]`: runs each cell of the fault table with each binding. */
  faults: { files: ["test/faults/table.test.ts"], numbers: [["ROUNDS", "2"]] },
  /** `npm run test:walk [STEPS [SEED]]`: runs random steps with the real engine. */
  walk: {
    files: ["test/engine/walk.test.ts"],
    numbers: [
      ["STEPS", "100"],
      ["WALK_SEED", randomSeed],
    ],
  },
  /** `npm run test:attacks [CONNECTIONS]`: attacks a service, which must stay fast and small. Needs an idle machine. */
  attacks: { files: ["test/service/attacks.test.ts"], numbers: [["ATTACK_CONNECTIONS", "60"]] },
  /** `npm run test:backup [KILLS]`: kills exports and restores at random moments. */
  backup: { files: ["test/service/backup/broken-off.test.ts"], numbers: [["KILLS", "20"]] },
  /** `npm run test:files [MEGABYTES]`: writes and reads a model of this size. */
  files: { files: ["test/service/files/model-format.test.ts"], numbers: [["MODEL_MEGABYTES", "2200"]] },
  /** `npm run test:source [MEGABYTES]`: imports a remote source of this size. */
  source: {
    files: ["test/records/sources/import-remote.test.ts"],
    numbers: [["SOURCE_MEGABYTES", "5000"]],
  },
  /** `npm run fuzz [CASES [SEED]]`: sends malformed and unusual requests to the service. */
  fuzz: {
    files: ["test/service/http/fuzz.test.ts"],
    numbers: [
      ["FUZZ_CASES", "10000"],
      ["FUZZ_SEED", randomSeed],
    ],
  },
};

runCommand(async () => {
  const [name = "", ...given] = process.argv.slice(2);
  const test = tests[name];
  if (!test) throw new Error(`Unknown test "${name}". Use one of: ${Object.keys(tests).join(", ")}.`);
  const env = { ...process.env };
  test.numbers.forEach(([variable, fallback], index) => {
    const text = given[index] ?? fallback;
    if (text === undefined) return;
    if (!/^-?\d+$/.test(text))
      throw new Error(`${variable} must be a whole number, not ${JSON.stringify(text)}.`);
    env[variable] = text;
  });
  await installPackages();
  const jest = require.resolve("jest/bin/jest");
  // Without this option, jest would also run other files whose paths contain these.
  await run(process.execPath, [jest, "--runTestsByPath", ...test.files], { cwd: root, env });
});
