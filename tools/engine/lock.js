const { setTimeout: delay } = require("node:timers/promises");
const { codeOf } = require("./way.js");

const pollMs = 500;

/**
 * Runs `work` while holding the lock beside `place`, so that two runs do not make the same engine twice.
 * The holder touches its lock all the time: one that has not been touched for `staleMs` belongs to a dead
 * process and is taken over.
 * @template T
 * @param {{ place: string, staleMs: number, onWait: () => void }} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withLock({ place, staleMs, onWait }, work) {
  // Loaded only when there is something to make: the usual run finds the engine in its cache.
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
