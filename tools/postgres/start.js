const { fork } = require("node:child_process");
const { once } = require("node:events");
const path = require("node:path");

/**
 * @typedef {object} Wanted
 * @property {boolean} [durable] whether what was committed outlives a loss of power, as users have it
 * @property {boolean} [own] whether it must be a server of its own, because it will be harmed
 * @property {number} [diskMegabytes] the size of a disk that a test can fill
 * @property {{ url: string, data: string }} [standbyOf] the server that it copies and follows
 */

/**
 * @typedef {object} Postgres
 * @property {string} url
 * @property {string} data the folder of its files; empty if TEST_DATABASE_URL names the server
 * @property {string} [disk] the small disk, if this machine can mount one; tables belong into its folder `tables`
 * @property {() => Promise<void>} halt ends the server as a crash does; its files stay
 * @property {(settings?: readonly string[]) => Promise<void>} resume starts it again; does not wait until it answers
 * @property {() => Promise<void>} stop ends the server and removes its files
 */

/**
 * Starts a PostgreSQL server of this run alone, or takes the one that TEST_DATABASE_URL names. It ends with this process,
 * however that ends.
 * @param {Wanted} [wanted]
 * @returns {Promise<Postgres>}
 */
async function startPostgres(wanted = {}) {
  const given = process.env.TEST_DATABASE_URL;
  const nothing = async () => {};
  if (given && !wanted.own) return { url: given, data: "", halt: nothing, resume: nothing, stop: nothing };
  const { TMPDIR: folder, RECOMMENDER_TESTS_FOLDER: closed, ...others } = process.env;
  const keeper = fork(path.join(__dirname, "keep.js"), [JSON.stringify(wanted)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    // Its user could not enter the folder that the tests have for themselves.
    env: folder === undefined || folder === closed ? others : { ...others, TMPDIR: folder },
  });
  const gone = once(keeper, "exit");
  const [message] = await Promise.race([once(keeper, "message"), gone.then(() => [{}])]);
  if (!message.url) throw new Error("PostgreSQL could not be started; the reason stands above.");
  keeper.unref();
  keeper.channel?.unref();
  const tell = async (/** @type {object} */ order) => {
    keeper.channel?.ref();
    keeper.send(order);
    await once(keeper, "message");
    keeper.channel?.unref();
  };
  return {
    ...message,
    halt: () => tell({ halt: true }),
    resume: (settings = []) => tell({ resume: settings }),
    stop: async () => {
      keeper.ref();
      keeper.disconnect();
      await gone;
    },
  };
}

module.exports = { startPostgres };
