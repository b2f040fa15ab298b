const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

/** Node's loader, with what its types leave out. @type {any} */
const Module = require("node:module");

/**
 * What one process has compiled is not compiled again by those that come after it in the same run of the tests. The
 * set-up writes the folder once; everyone else only reads it.
 * @param {string} folder
 */
function useCompiled(folder) {
  const index = path.join(folder, "index.json");
  const code = path.join(folder, "code");
  if (fs.existsSync(index)) take(JSON.parse(fs.readFileSync(index, "utf8")), fs.readFileSync(code));
}

/** @typedef {Record<string, { length: number, from: number, to: number }>} Places where a file's code lies */

/** @param {Places} places @param {Buffer} code */
function take(places, code) {
  compileWith((file, content) => {
    const { length, from, to } = places[file] ?? {};
    return length === content.length ? scriptOf(file, content, code.subarray(from, to)) : undefined;
  });
}

/** Runs what loads modules, and writes the code of all of them. @param {string} folder @param {() => Promise<void>} load */
async function writeCompiled(folder, load) {
  /** @type {Map<string, { length: number, script: vm.Script }>} */
  const scripts = new Map();
  compileWith((file, content) => {
    // In Node 20, `import()` fails in code that was not compiled by the process itself.
    if (/\bimport\(/.test(content)) return undefined;
    const script = scriptOf(file, content);
    scripts.set(file, { length: content.length, script });
    return script;
  });
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
  fs.writeFileSync(path.join(folder, "index.json"), JSON.stringify(Object.fromEntries(places)));
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
