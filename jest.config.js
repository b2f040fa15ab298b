/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  roots: ["<rootDir>/test"],
  testMatch: ["**/*.test.ts"],
  // A guard against hanging for ever, far beyond what any test needs on a slow machine.
  testTimeout: 900_000,
  // Tests that drive the engine wait for processes of its own more than they work.
  maxWorkers: "100%",
  testSequencer: "<rootDir>/tools/jest/longest-first.js",
  globalSetup: "<rootDir>/tools/jest/global-setup.js",
  reporters: ["default", "<rootDir>/tools/jest/totals-reporter.js"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript" }, target: "es2022" }, module: { type: "commonjs" } },
    ],
  },
};
