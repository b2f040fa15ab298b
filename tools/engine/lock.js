const { setTimeout: delay } = require("node:timers/promises");
const { codeOf } = require("./errors.js");

const pollMs = 500;

/**
 * Runs `work` with a lock on `place`, so two runs do not build the same engine. The owner refreshes its lock regularly.
 * If a lock has not been refreshed for `staleMs`, its owner is dead, and another run takes the lock.
 * @template T
 * @param {{ place: string, staleMs: number, onWait: () => void }} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withLock({ place, staleMs, onWait }, work) {
  // Loaded only if the engine must be built. Most runs find it in the cache.
  const lockfile = require("proper-lockfile");
  let release;
  while (release === undefined) {
    try {
      release = await lockfile.lock(place, { realpath: false, stale: staleMs });
    } catch (error) {
      if (codeOf(error) !== "ELOCKED") throw error;
      onWait();
      await delay(pollMs);
    }
  }
  try {
    return await work();
  } finally {
    await release();
  }
}

module.exports = { withLock };
