const vm = require("node:vm");

/**
 * Jest compiles each module for each test file anew, a third of the time that loading takes. Here the code of a module is
 * compiled once in a process, and so is each function in it when it is first called; test files still have modules of
 * their own.
 */
function shareCode() {
  const compile = vm.compileFunction;
  /** By the name of the file. @type {Map<string, { source: string, script: vm.Script | undefined }>} */
  const known = new Map();
  vm.compileFunction = (source, parameters = [], options = {}) => {
    const { filename = "", parsingContext } = options;
    if (!parsingContext) return compile(source, parameters, options);
    let found = known.get(filename);
    if (found?.source !== source) {
      found = { source, script: scriptOf(source, parameters, filename) };
      known.set(filename, found);
    }
    return found.script?.runInContext(parsingContext) ?? compile(source, parameters, options);
  };
}

/** @param {string} source @param {readonly string[]} parameters @param {string} filename */
function scriptOf(source, parameters, filename) {
  // What `import()` does is told with each compilation.
  if (/\bimport\(/.test(source)) return undefined;
  const opening = `(function (${parameters.join(", ")}) {`;
  try {
    return new vm.Script(`${opening}${source}\n})`, { filename, columnOffset: -opening.length });
  } catch {
    // Jest says what is wrong with it.
    return undefined;
  }
}

module.exports = { shareCode };
