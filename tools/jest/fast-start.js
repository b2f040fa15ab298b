const Module = require("node:module");
const { whenUsed } = require("./seldom-used/when-used.js");

/**
 * Preloaded into every process that a test starts. Each command of the engine starts two that load the SDK, which is
 * most of what a command takes; and two thirds of that are the compiler of TypeScript and npm's reader of dependency
 * trees. The SDK needs them only to serialise functions, so they are loaded when they are first used.
 */
for (const name of ["@npmcli/arborist", "@pulumi/pulumi/typescript-shim"]) {
  const file = require.resolve(name);
  const later = new Module(file);
  later.loaded = true;
  later.exports = whenUsed(() => {
    if (require.cache[file] === later) delete require.cache[file];
    return require(file);
  });
  require.cache[file] = later;
}

// The language host takes every program for TypeScript, whatever its project says.
if (process.env.RECOMMENDER_PROGRAM === "javascript") process.env.PULUMI_NODEJS_TYPESCRIPT = "false";
