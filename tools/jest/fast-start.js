const Module = require("node:module");

/**
 * Preloaded into every process that a test starts. Each command of the engine starts two that load the SDK, which is
 * most of what a command takes; and two thirds of that are the compiler of TypeScript and npm's reader of dependency
 * trees. The SDK needs them only to serialise functions, so they are loaded when they are first used.
 */
const seldomUsed = /^@npmcli\/arborist$|[\\/]typescript-shim$/;

/** The loader that Node does not describe. @type {{ _load(id: string, ...rest: unknown[]): any }} */
const loader = /** @type {any} */ (Module);
const load = loader._load;

loader._load = (id, ...rest) => {
  if (!seldomUsed.test(id)) return load(id, ...rest);
  // It passes for a module with names: the SDK asks others for all of theirs at once.
  return new Proxy(
    {},
    {
      get(_, name) {
        if (name === "__esModule") return true;
        const loaded = load(id, ...rest);
        return name === "default" ? loaded : loaded[name];
      },
    },
  );
};

// The language host takes every program for TypeScript, whatever its project says.
if (process.env.RECOMMENDER_PROGRAM === "javascript") process.env.PULUMI_NODEJS_TYPESCRIPT = "false";
