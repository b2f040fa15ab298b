/**
 * A working engine.
 * @typedef {object} Engine
 * @property {string} version
 * @property {string} bin directory with the three programs
 * @property {"path" | "download" | "build"} source
 */

/**
 * Returns the reason of an error in one line, with its cause: `fetch` puts the reason there. Does not use `instanceof`,
 * because errors of Node belong to another realm in jest.
 * @param {unknown} error
 * @returns {string}
 */
function reasonOf(error) {
  const { message, cause } = /** @type {{ message?: string, cause?: unknown }} */ (error);
  return cause ? `${message} (${reasonOf(cause)})` : (message ?? String(error));
}

/** Returns the code of a system error, such as ENOENT. @param {unknown} error */
const codeOf = (error) => /** @type {{ code?: unknown }} */ (error).code;

/** One source of the engine is not available: the reason, and how to fix it. */
class SourceUnavailable extends Error {
  /**
   * @param {string} reason
   * @param {string} fix
   */
  constructor(reason, fix) {
    super(reason);
    this.name = "SourceUnavailable";
    this.fix = fix;
  }
}

/** No source of the engine is available. Lists the reason and the fix for each. */
class NoEngine extends Error {
  /** @param {{ source: string, error: unknown }[]} failures */
  constructor(failures) {
    const lines = failures.map(({ source, error }, index) => {
      const fix = error instanceof SourceUnavailable ? error.fix : "This is unexpected. Please report it.";
      return `  ${index + 1}. ${source}: ${reasonOf(error)}\n     Fix: ${fix}`;
    });
    super(`No Pulumi engine. Fix any one of:\n${lines.join("\n")}`);
    this.name = "NoEngine";
  }
}

module.exports = { SourceUnavailable, NoEngine, reasonOf, codeOf };
