const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

/** Only here does a name stand for the same file in every test. */
const root = path.resolve(__dirname, "../..");

/** Node's loader, with what its types leave out. @type {any} */
const Module = require("node:module");

/**
 * What one process has compiled is not compiled again by those that come after it in the same run of the tests. The
 * set-up writes the folder once; everyone else only reads it.
 * @param {string} folder
 */
function useCompiled(folder) {
  const index = path.join(folder, "index.json");
  if (!fs.existsSync(index)) return;
  /** @type {Index} */
  const { places, found } = JSON.parse(fs.readFileSync(index, "utf8"));
  const all = fs.openSync(path.join(folder, "code"), "r");
  compileWith((file, content) => {
    const { length, from, to } = places[file] ?? {};
    if (length !== content.length || from === undefined || to === undefined) return undefined;
    const code = Buffer.alloc(to - from);
    fs.readSync(all, code, 0, code.length, from);
    return scriptOf(file, content, code);
  });
  findWith((key, find) => found[key] ?? find());
  const load = Module._extensions[".js"];
  /** Node would look for the package of each file. @param {any} module @param {string} file */
  Module._extensions[".js"] = (module, file) =>
    places[file] ? module._compile(fs.readFileSync(file, "utf8"), file) : load(module, file);
}

/**
 * @typedef {object} Index
 * @property {Record<string, { length: number, from: number, to: number }>} places where a file's code lies
 * @property {Record<string, string>} found the file that a name stands for in a folder
 */

/** Runs what loads modules, and writes the code of all of them. @param {string} folder @param {() => Promise<void>} load */
async function writeCompiled(folder, load) {
  /** @type {Map<string, { length: number, script: vm.Script }>} */
  const scripts = new Map();
  compileWith((file, content) => {
    // In Node 20, `import()` fails in code that was not compiled by the process itself; the compiler only writes of it.
    if (/\bimport\(/.test(content) && path.basename(file) !== "typescript.js") return undefined;
    const script = scriptOf(file, content);
    scripts.set(file, { length: content.length, script });
    return script;
  });
  /** @type {Index["found"]} */
  const found = {};
  findWith((key, find) => (found[key] = find()));
  await load();
  /** @type {Buffer[]} */
  const parts = [];
  let from = 0;
  const places = [...scripts].map(([file, { length, script }]) => {
    const part = script.createCachedData();
    parts.push(part);
    from += part.length;
    return [file, { length, from: from - part.length, to: from }];
  });
  fs.writeFileSync(path.join(folder, "code"), Buffer.concat(parts));
  fs.writeFileSync(
    path.join(folder, "index.json"),
    JSON.stringify({ places: Object.fromEntries(places), found }),
  );
}

/** @param {(key: string, find: () => string) => string} found */
function findWith(found) {
  const find = Module._resolveFilename;
  /** @param {string} name @param {{ filename?: string } | undefined} parent @param {unknown[]} rest */
  Module._resolveFilename = (name, parent, ...rest) => {
    const usual = () => find(name, parent, ...rest);
    const folder = parent?.filename && path.dirname(parent.filename);
    return folder?.startsWith(root) && !rest[1] ? found(`${folder} ${name}`, usual) : usual();
  };
}

/** @param {(file: string, content: string) => vm.Script | undefined} compiled undefined leaves it to Node */
function compileWith(compiled) {
  const compile = Module.prototype._compile;
  /** @param {string} content @param {string} file */
  Module.prototype._compile = function (content, file) {
    const script = compiled(file, content);
    if (!script) return compile.call(this, content, file);
    const run = script.runInThisContext();
    return run.call(this.exports, this.exports, Module.createRequire(file), this, file, path.dirname(file));
  };
}

/** @param {string} file @param {string} content @param {Buffer} [cachedData] */
function scriptOf(file, content, cachedData) {
  return new vm.Script(Module.wrap(content.replace(/^#!.*/, "")), {
    filename: file,
    cachedData,
  });
}

module.exports = { useCompiled, writeCompiled };
