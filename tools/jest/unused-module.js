/** Replaces modules that are slow to load and that tests never use: see `moduleNameMapper` in jest.config.js. */
module.exports = new Proxy(
  {},
  {
    get(_, name) {
      if (name === "__esModule") return true;
      throw new Error(`"${String(name)}" belongs to a module that jest.config.js replaces. Remove it there.`);
    },
  },
);
