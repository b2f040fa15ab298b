const Module = require("node:module");

/**
 * Loaded into every process that a test starts, by NODE_OPTIONS. Every engine command starts two processes that load the
 * Pulumi SDK. These parts of the SDK and of zod take most of that time and are rarely needed, so they load on first use.
 */
const rarelyUsed = [
  // Used to serialize functions.
  "@npmcli/arborist",
  "@pulumi/pulumi/typescript-shim",
  // Used by programs that run other stacks, such as our CLI.
  "@pulumi/pulumi/automation",
  // Error messages in other languages.
  "zod/v4/locales",
];

const { resolve } = Module.createRequire(require.resolve("@pulumi/pulumi"));
for (const name of rarelyUsed) loadOnFirstUse(resolve(name));

// The language host sets this variable to "true" for every Node program. JavaScript does not need the compiler.
if (process.env.RECOMMENDER_PROGRAM === "javascript") process.env.PULUMI_NODEJS_TYPESCRIPT = "false";

/** Puts a proxy into the module cache. It replaces itself with the real module when a property is read. @param {string} file */
function loadOnFirstUse(file) {
  const placeholder = new Module(file);
  const load = () => {
    if (require.cache[file] === placeholder) delete require.cache[file];
    return require(file);
  };
  placeholder.loaded = true;
  placeholder.exports = new Proxy(
    {},
    {
      get(_, name) {
        // Without this, TypeScript's `import *` would copy all properties at once and load the module.
        if (name === "__esModule") return true;
        return name === "default" ? load() : load()[name];
      },
      has: (_, name) => name in load(),
      ownKeys: () => Reflect.ownKeys(load()),
      getOwnPropertyDescriptor(_, name) {
        const descriptor = Reflect.getOwnPropertyDescriptor(load(), name);
        return descriptor && { ...descriptor, configurable: true };
      },
    },
  );
  require.cache[file] = placeholder;
}
