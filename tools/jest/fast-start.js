const Module = require("node:module");
const { useCompiled } = require("./compiled.js");
const { whenUsed } = require("./seldom-used/when-used.js");
const { shareCode } = require("./shared-code.js");

/**
 * Preloaded into every process that a test starts. Each command of the engine starts two that load the SDK, which is
 * most of what a command takes. What has been compiled once is not compiled again; and what the SDK needs only to
 * serialise functions, to trace itself or to drive other stacks is loaded when it is first used; so are zod's languages.
 */
function startFast() {
  if (process.env.RECOMMENDER_COMPILED) useCompiled(process.env.RECOMMENDER_COMPILED);
  const { later, hooks, sourceMaps } = filesOfSdk();
  for (const file of later) loadWhenUsed(file);
  // To be ready to serialise functions, the SDK would debug the program.
  if (!process.env.RECOMMENDER_SERIALISES) preset(hooks, { isInitializedAsync: async () => {} });
  if (process.env.RECOMMENDER_PROGRAM !== "javascript") return;
  // The language host takes every program for TypeScript, whatever its project says.
  process.env.PULUMI_NODEJS_TYPESCRIPT = "false";
  // Only the SDK's own lines would be mapped to its sources, a fifth of the time of a small program.
  preset(sourceMaps, {});
}

/** Where the SDK finds what is not loaded as it would be. */
function filesOfSdk() {
  const { resolve } = Module.createRequire(require.resolve("@pulumi/pulumi"));
  return {
    later: seldomUsed.map((name) => resolve(name)),
    hooks: resolve("@pulumi/pulumi/runtime/closure/v8Hooks"),
    sourceMaps: resolve("source-map-support/register"),
  };
}

const seldomUsed = [
  "@npmcli/arborist",
  "@pulumi/pulumi/typescript-shim",
  "@pulumi/pulumi/automation",
  "normalize-package-data",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "zod/v4/locales",
];

/** @param {string} file */
function loadWhenUsed(file) {
  const later = preset(
    file,
    whenUsed(() => {
      if (require.cache[file] === later) delete require.cache[file];
      return require(file);
    }),
  );
}

/** @param {string} file @param {object} exports */
function preset(file, exports) {
  const module = new Module(file);
  module.loaded = true;
  module.exports = exports;
  require.cache[file] = module;
  return module;
}

// Before each of the two, the engine asks by a line of code where the SDK lies.
if (!process.execArgv.includes("-e")) startFast();
if (/jest-worker/.test(process.argv[1] ?? "")) shareCode();

module.exports = { filesOfSdk };
