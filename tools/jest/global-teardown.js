const fs = require("node:fs");

/** Stops PostgreSQL and deletes the temporary files, after all tests. */
module.exports = async () => {
  const { stopPostgres } = /** @type {{ stopPostgres?: () => Promise<void> }} */ (globalThis);
  await stopPostgres?.();
  const directory = process.env.RECOMMENDER_TESTS_DIRECTORY;
  if (directory) await fs.promises.rm(directory, { recursive: true, force: true, maxRetries: 5 });
};
