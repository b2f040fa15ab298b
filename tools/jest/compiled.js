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
  findWith((key, find) => found[key] ?? find());
  const load = Module._extensions[".js"];
  /** Node would look for the package of each file. @param {any} module @param {string} file */
  Module._extensions[".js"] = (module, file) => {
    const place = places[file];
    if (!place) return load(module, file);
    const { at, content, code } = place;
    const both = Buffer.allocUnsafeSlow(content + code);
    fs.readSync(all, both, 0, both.length, at);
    runIn(module, scriptOf(file, both.toString("utf8", 0, content), both.subarray(content)));
  };
}

/**
 * @typedef {object} Index
 * @property {Record<string, { at: number, content: number, code: number }>} places where a file's content lies, and
 * after it its code, and how many bytes each has
 * @property {Record<string, string>} found the file that a name stands for in a folder
 */

/** Runs what loads modules, and writes the code of all of them. @param {string} folder @param {() => Promise<void>} load */
async function writeCompiled(folder, load) {
  /** @type {Map<string, { content: string, script: vm.Script }>} */
  const scripts = new Map();
  const compile = Module.prototype._compile;
  /** @param {string} content @param {string} file */
  Module.prototype._compile = function (content, file) {
    // In Node 20, `import()` fails in code that was not compiled by the process itself; the compiler only writes of it.
    if (/\bimport\(/.test(content) && path.basename(file) !== "typescript.js")
      return compile.call(this, content, file);
    const script = scriptOf(file, content);
    scripts.set(file, { content, script });
    return runIn(this, script);
  };
  /** @type {Index["found"]} */
  const found = {};
  findWith((key, find) => (found[key] = find()));
  await load();
  /** @type {Buffer[]} */
  const parts = [];
  let at = 0;
  const places = [...scripts].map(([file, { content, script }]) => {
    const [text, code] = [Buffer.from(content), script.createCachedData()];
    parts.push(text, code);
    const place = { at, content: text.length, code: code.length };
    at += text.length + code.length;
    return [file, place];
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

/** What Node does with a module that it has compiled. @param {any} module @param {vm.Script} script */
function runIn(module, script) {
  /** @param {string} name */
  const require = (name) => module.require(name);
  /** @param {string} name @param {unknown} [options] */
  require.resolve = (name, options) => Module._resolveFilename(name, module, false, options);
  Object.assign(require, { main: process.mainModule, extensions: Module._extensions, cache: Module._cache });
  const { exports, filename } = module;
  return script.runInThisContext().call(exports, exports, require, module, filename, path.dirname(filename));
}

/** @param {string} file @param {string} content @param {Buffer} [cachedData] */
function scriptOf(file, content, cachedData) {
  return new vm.Script(Module.wrap(content.replace(/^#!.*/, "")), {
    filename: file,
    cachedData,
  });
}

module.exports = { useCompiled, writeCompiled };
