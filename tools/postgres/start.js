const { fork } = require("node:child_process");
const { once } = require("node:events");
const path = require("node:path");

/**
 * Starts a PostgreSQL server of this run alone, or takes the one that TEST_DATABASE_URL names. It ends with this process,
 * however that ends.
 * @param {{ durable?: boolean, own?: boolean }} [options] whether what was committed outlives a loss of power, as users
 * have it; and whether it must be a server of its own, because it will be harmed
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
async function startPostgres({ durable = false, own = false } = {}) {
  const given = process.env.TEST_DATABASE_URL;
  if (given && !own) return { url: given, stop: async () => {} };
  const { TMPDIR: folder, RECOMMENDER_TESTS_FOLDER: closed, ...others } = process.env;
  const keeper = fork(path.join(__dirname, "keep.js"), durable ? ["durable"] : [], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Its user could not enter the folder that the tests have for themselves.
    env: folder === undefined || folder === closed ? others : { ...others, TMPDIR: folder },
  });
  const gone = once(keeper, "exit");
  const [message] = await Promise.race([once(keeper, "message"), gone.then(() => [{}])]);
  if (!message.url) throw new Error("PostgreSQL could not be started; the reason stands above.");
  keeper.unref();
  keeper.channel?.unref();
  return {
    url: message.url,
    stop: async () => {
      keeper.ref();
      keeper.disconnect();
      await gone;
    },
  };
}

module.exports = { startPostgres };
