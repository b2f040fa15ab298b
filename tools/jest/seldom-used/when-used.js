/**
 * A module that is loaded when it is first used.
 * @param {() => any} load
 */
function whenUsed(load) {
  return new Proxy(
    {},
    {
      get(_, name) {
        // It passes for a module with names: the SDK asks others for all of theirs at once.
        if (name === "__esModule") return true;
        return name === "default" ? load() : load()[name];
      },
      has: (_, name) => name in load(),
      ownKeys: () => Reflect.ownKeys(load()),
      getOwnPropertyDescriptor(_, name) {
        const described = Reflect.getOwnPropertyDescriptor(load(), name);
        return described && { ...described, configurable: true };
      },
    },
  );
}

module.exports = { whenUsed };
