/**
 * A working engine.
 * @typedef {object} Engine
 * @property {string} version
 * @property {string} bin folder that holds the three programs
 * @property {"path" | "download" | "build"} source
 */

/**
 * What went wrong, in one line; fetch hides it one level down. Told by shape and not by class: errors of
 * Node itself are of another realm in jest.
 * @param {unknown} error
 * @returns {string}
 */
function reasonOf(error) {
  const { message, cause } = /** @type {{ message?: string, cause?: unknown }} */ (error);
  return cause ? `${message} (${reasonOf(cause)})` : (message ?? String(error));
}

/** The code of a system error. @param {unknown} error */
const codeOf = (error) => /** @type {{ code?: unknown }} */ (error).code;

/** Why one way to an engine is closed, and what would open it. */
class WayClosed extends Error {
  /**
   * @param {string} reason
   * @param {string} fix
   */
  constructor(reason, fix) {
    super(reason);
    this.name = "WayClosed";
    this.fix = fix;
  }
}

/** No way led to an engine: every reason, with its fix. */
class NoEngine extends Error {
  /** @param {{ way: string, error: unknown }[]} closed */
  constructor(closed) {
    const lines = closed.map(({ way, error }, place) => {
      const fix = error instanceof WayClosed ? error.fix : "This was not foreseen; please report it.";
      return `  ${place + 1}. ${way}: ${reasonOf(error)}\n     Fix: ${fix}`;
    });
    super(`No Pulumi engine. Fix any one of:\n${lines.join("\n")}`);
    this.name = "NoEngine";
  }
}

module.exports = { WayClosed, NoEngine, reasonOf, codeOf };
