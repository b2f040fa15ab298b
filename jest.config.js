const { availableParallelism, totalmem } = require("node:os");
const { sourceDirectories } = require("./tools/setup.js");

// tools/jest/README.md explains how `npm test` works.

/** @type {import("jest").Config} */
const shared = {
  testEnvironment: "node",
  // In jest's sandbox, each access to a global is slow. With these two, trainings in tests take a fraction of the time.
  sandboxInjectedGlobals: ["Math", "Number"],
  // `npm test -- --changed` follows imports into these directories.
  roots: ["test", "tools", "web", ...sourceDirectories].map((directory) => `<rootDir>/${directory}`),
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  setupFilesAfterEnv: ["<rootDir>/tools/jest/test-file-setup.js"],
  moduleNameMapper: {
    // Worker threads and services that the tested code starts run from dist/, because Node cannot run the sources.
    "/base/package-paths$": "<rootDir>/dist/service/base/package-paths.js",
    // Most of the time that the Pulumi SDK and zod take to load: the serialization of functions, and translations.
    "^@npmcli/arborist$|/typescript-shim$|/locales/index\\.cjs$": "<rootDir>/tools/jest/unused-module.js",
    // In TypeScript, `import("./file.js")` refers to file.ts.
    "^(\\.{1,2}/.+)\\.js$": "$1",
  },
  // Jest cannot load ES modules, so this one is compiled too.
  transformIgnorePatterns: ["/node_modules/(?!@marcbachmann/cel-js/)"],
  transform: {
    "^.+\\.ts$|/@marcbachmann/cel-js/.+\\.js$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
};

/** Set by `npm test` without arguments. */
const isShort = process.env.RECOMMENDER_TESTS === "short";

/** Patterns of tests that take more than 20 s on two cores. They run with `npm test -- --all`. */
const slowTests = [
  // Stacks with the real engine. The short run has a first start and one stack with all resources.
  "engine/(?!recommender|start).*",
  "pipelines/.*",
  "provider/(deployment|jobs/jobs|lifecycle/location|plugin/(bindings|config|jobs))",
  // Random sequences of faults. The short run has a part of the fault table and the sequences of uploads.
  "faults/(recovery|undecided|walk)",
  "records/(import.*|shards)",
  // Commands, and the console in a browser. The short run has most commands and the main pages.
  "cli/commands/(service|users)",
  "cli/terminal/.*",
  "console/screens",
  // Kills and outages of the service, exports and restores, load, and large data.
  "service/(attacks|chaos|console-scans|kill|lease|recommendation-kill)",
  "service/backup/.*",
  "service/algorithms/(cold-start|kernel|ranker|training)",
  "service/files/(full-disk|storage|stored-files)",
  "service/handlers/orphan",
  "service/http/(bad-input|body)",
  "service/jobs/(threads|trainer)",
  "service/store/(erased|event-types|forgotten.*)",
  "service/threads/training-data",
  // Installs the client for web pages, and opens a page in Chromium.
  "web/package",
  // Releases and SDKs in all languages.
  "tools/(engine-build|engine-download|schema|sdk)",
];

/** Tests that run with one API on PostgreSQL. The short run has those that depend on leases and the order of writes. */
const postgresTests = isShort
  ? ["jobs/closing", "jobs/result", "jobs/runner", "serving/current", "store/history"]
  : ["handlers", "jobs", "serving", "store", "http"].map((directory) => `${directory}/**/*`);

/** Tests that run with two APIs on PostgreSQL. They fail if one process caches what the other one changes. */
const twoApisTests = ["concurrency", "serving/live", "http/idempotency", "http/token"];
if (!isShort)
  twoApisTests.push(
    ...["handlers/*", "http/{audit,clients,console*,operations}", "store/forgotten"],
    "jobs/{recommendation,result,runner,same-model,trainer}",
    "serving/{choice,filter,similar}",
  );

/** Tests of the data directory, or of code that uses no database. They do not run on PostgreSQL. */
const notOverPostgres = [
  "handlers/handlers",
  "http/body",
  "http/fuzz",
  "http/malformed",
  "http/bad-input",
  "http/openapi",
  "serving/cached-attributes",
  "serving/cached-events",
];

/** Tests of code that only a service on PostgreSQL uses. */
const onlyOverPostgres = ["service/serving/current"];

/** @param {string} name */
const serviceTest = (name) => `<rootDir>/test/service/${name}.test.ts`;

/** @param {string} name */
const ignored = (name) => `<rootDir>/test/${name}\\.test\\.ts`;

const overPostgres = {
  ...shared,
  testPathIgnorePatterns: notOverPostgres.map((name) => ignored(`service/${name}`)),
};

/** @type {import("jest").Config} */
module.exports = {
  // Ends a test that hangs. Slower tests set their own limit.
  testTimeout: 1_800_000,
  // Tests wait for half of their time, so two more workers than cores keep all cores busy. Each needs 1.5 GB of memory.
  maxWorkers: Math.max(1, Math.min(availableParallelism() + 2, Math.floor(totalmem() / 1.5e9))),
  globalSetup: "<rootDir>/tools/jest/global-setup.js",
  globalTeardown: "<rootDir>/tools/jest/global-teardown.js",
  reporters: ["default", "<rootDir>/tools/jest/totals-reporter.js"],
  projects: [
    {
      ...shared,
      testPathIgnorePatterns: [...(isShort ? slowTests : []), ...onlyOverPostgres].map(ignored),
    },
    {
      ...overPostgres,
      displayName: "PostgreSQL",
      testMatch: postgresTests.map(serviceTest),
      globals: { testStore: "postgres" },
    },
    {
      ...overPostgres,
      displayName: "two APIs",
      testMatch: twoApisTests.map(serviceTest),
      globals: { testStore: "postgres", testTwoApis: true },
    },
  ],
};
