const { fork } = require("node:child_process");
const { once } = require("node:events");
const path = require("node:path");

/**
 * @typedef {object} ServerOptions
 * @property {boolean} [durable] whether committed data survives a power failure, as in production
 * @property {boolean} [own] whether to start a server even if TEST_DATABASE_URL is set, because the test will damage it
 * @property {number} [diskMegabytes] the size of a disk that a test can fill
 * @property {{ url: string, data: string }} [standbyOf] the primary server, if the new server is its standby
 */

/**
 * @typedef {object} Postgres
 * @property {string} url
 * @property {string} data the data directory; empty for the server in TEST_DATABASE_URL
 * @property {string} [disk] the mount point of the small disk, if this machine can mount one. Tables belong into its
 * directory `tables`
 * @property {() => Promise<void>} halt stops the server as a crash does, and keeps its files
 * @property {(settings?: readonly string[]) => Promise<void>} resume starts it again, without waiting until it is ready
 * @property {() => Promise<void>} stop stops the server and deletes its files
 */

/**
 * Starts a PostgreSQL server for this process, or uses the server in TEST_DATABASE_URL. The server stops when this
 * process ends, even if it is killed.
 * @param {ServerOptions} [options]
 * @returns {Promise<Postgres>}
 */
async function startPostgres(options = {}) {
  const given = process.env.TEST_DATABASE_URL;
  const nothing = async () => {};
  if (given && !options.own) return { url: given, data: "", halt: nothing, resume: nothing, stop: nothing };
  const { TMPDIR, RECOMMENDER_TESTS_DIRECTORY, ...env } = process.env;
  // PostgreSQL may run as another user, who cannot read the temporary directory of the tests.
  if (TMPDIR !== undefined && TMPDIR !== RECOMMENDER_TESTS_DIRECTORY) env.TMPDIR = TMPDIR;
  const runner = fork(path.join(__dirname, "run-server.js"), [JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env,
  });
  const exited = once(runner, "exit");
  const [message] = await Promise.race([once(runner, "message"), exited.then(() => [{}])]);
  if (!message.url) throw new Error("PostgreSQL did not start. The reason is printed above.");
  runner.unref();
  runner.channel?.unref();
  const send = async (/** @type {object} */ request) => {
    runner.channel?.ref();
    runner.send(request);
    await once(runner, "message");
    runner.channel?.unref();
  };
  return {
    ...message,
    halt: () => send({ halt: true }),
    resume: (settings = []) => send({ resume: settings }),
    stop: async () => {
      runner.ref();
      runner.disconnect();
      await exited;
    },
  };
}

module.exports = { startPostgres };
