const { availableParallelism, totalmem } = require("node:os");
const { rooms } = require("./tools/setup.js");

/** @type {import("jest").Config} */
const tests = {
  testEnvironment: "node",
  // Jest runs everything in a sandbox in which it takes long to find a global: most of the time of a training in there.
  sandboxInjectedGlobals: ["Math", "Number"],
  // `npm test -- --changed` follows imports into the code.
  roots: ["test", "tools", ...rooms].map((folder) => `<rootDir>/${folder}`),
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  setupFiles: ["<rootDir>/tools/jest/own-state.js"],
  setupFilesAfterEnv: ["<rootDir>/tools/jest/time-limit.js"],
  // What tools/jest/fast-start.js does for the processes that tests start, for the tests themselves.
  moduleNameMapper: {
    // Threads and services that the tested code starts run what was built; from the sources, each would compile anew.
    "/base/own-file$": "<rootDir>/dist/service/base/own-file.js",
    "^@npmcli/arborist$": "<rootDir>/tools/jest/seldom-used/arborist.js",
    "/locales/index\\.cjs$": "<rootDir>/tools/jest/seldom-used/zod-locales.js",
    // `import()` of TypeScript names the file that is compiled from a source.
    "^(\\.{1,2}/.+)\\.js$": "$1",
    "/typescript-shim$": "<rootDir>/tools/jest/seldom-used/typescript.js",
  },
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
};

const isShort = process.env.RECOMMENDER_TESTS === "short";

/**
 * What takes minutes and is broken by few changes: `npm test` leaves it out, `npm test -- --all` and CI do not.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const atLength = {
  "what a release holds, in every language": [
    "engine/examples",
    "engine/languages",
    "engine/packed",
    "engine/release",
    "tools/engine-build",
    "tools/engine-download",
    "tools/sdk",
  ],
  "the long lives of stacks": [
    "engine/backup",
    "engine/carrier",
    "engine/drift",
    "engine/many",
    "engine/many-at-once",
    "engine/options",
    "engine/other-service",
    "engine/promotion",
    "engine/recorded-state",
    "engine/serving",
    "engine/shared",
    "engine/stack-command",
    "engine/structure",
    "engine/surgery",
    "engine/walk",
  ],
  "exports and restores that are broken off": ["service/backup/broken-off"],
  "the width of what every command prints": ["cli/terminal/width"],
};

const left = isShort ? Object.values(atLength).flat() : [];

/**
 * What the API does must not depend on where its data lies. `npm test` tries with one API over PostgreSQL what follows
 * from leases and the order of writes; two APIs, which run over it too, show most of the rest.
 */
const service = (
  isShort
    ? ["jobs/closing", "jobs/result", "jobs/runner", "serving/current", "store/erased", "store/history"]
    : ["handlers", "jobs", "serving", "store", "http"].map((room) => `${room}/**/*`)
).map((name) => `<rootDir>/test/service/${name}.test.ts`);

/** What is about the embedded service's folder, or opens no store at all. */
const onlyEmbedded = [
  "handlers/handlers",
  "http/body",
  "http/fuzz",
  "http/malformed",
  "http/bad-input",
  "http/openapi",
  "serving/kept-attributes",
  "serving/kept-events",
];

/** What only a service over PostgreSQL has. */
const onlyPostgres = ["service/serving/current"];

/**
 * What would show that a process remembers what another has changed since; the last few only at length. Not those of
 * jobs that look at the threads, or at the end, of the one process that does everything.
 */
const betweenProcesses = [
  "concurrency",
  "handlers/*",
  "serving/live",
  "store/forgotten",
  "http/idempotency",
  "http/console*",
  "http/token",
  ...(isShort
    ? []
    : ["http/audit", "http/clients", "http/operations", "jobs/{result,runner,same-model,trainer}"]),
].map((name) => `<rootDir>/test/service/${name}.test.ts`);

const testPathIgnorePatterns = onlyEmbedded.map((name) => `<rootDir>/test/service/${name}\\.test\\.ts`);

/** @type {import("jest").Config} */
module.exports = {
  // A guard against hanging for ever; a suite that needs more says so itself.
  testTimeout: 300_000,
  // Two more than there are cores, for half of a test's time is waiting; as far as memory reaches, with what they start.
  maxWorkers: Math.max(1, Math.min(availableParallelism() + 2, Math.floor(totalmem() / 1.5e9))),
  testSequencer: "<rootDir>/tools/jest/longest-first.js",
  globalSetup: "<rootDir>/tools/jest/global-setup.js",
  globalTeardown: "<rootDir>/tools/jest/global-teardown.js",
  reporters: ["default", "<rootDir>/tools/jest/totals-reporter.js"],
  projects: [
    {
      ...tests,
      testPathIgnorePatterns: [...left, ...onlyPostgres].map((name) => `<rootDir>/test/${name}\\.test\\.ts`),
    },
    {
      ...tests,
      displayName: "PostgreSQL",
      testMatch: service,
      testPathIgnorePatterns,
      globals: { testStore: "postgres" },
    },
    {
      ...tests,
      displayName: "two APIs",
      testMatch: betweenProcesses,
      testPathIgnorePatterns,
      globals: { testStore: "postgres", testTwoApis: true },
    },
  ],
};
