const fs = require("node:fs");

/** Ends the database, and removes the folder that the set-up has made in memory. */
module.exports = async () => {
  const { stopPostgres } = /** @type {{ stopPostgres?: () => Promise<void> }} */ (globalThis);
  await stopPostgres?.();
  const folder = process.env.RECOMMENDER_TESTS_FOLDER;
  if (folder) await fs.promises.rm(folder, { recursive: true, force: true, maxRetries: 5 });
};
