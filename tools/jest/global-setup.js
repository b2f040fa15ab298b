const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { provideForTests } = require("../engine/provide.js");
const { startPostgres } = require("../postgres/start.js");
const { makeTemplate } = require("../postgres/template.js");
const { buildForTests } = require("../setup.js");
const { startKeyKeeper } = require("./key-keeper.js");
const { shareCode } = require("./shared-code.js");

/** Where Linux keeps files in memory, and how much room the tests want there. */
const memory = "/dev/shm";
const wantedBytes = 4 * 2 ** 30;

/** Tests use the built package and the engine; both reach the workers through the environment.
 * What is kept between runs belongs to this run of the tests alone. */
module.exports = async () => {
  // For tests that run in this process; workers do it by themselves.
  shareCode();
  await buildForTests();
  const { bin } = await provideForTests();
  // Before the folder below is made, which its own user could not enter.
  const postgres = await startPostgres();
  process.env.TEST_DATABASE_URL = postgres.url;
  const template = await makeTemplate(postgres.url);
  process.env.TEST_DATABASE_TEMPLATE = template.name;
  Object.assign(globalThis, {
    stopPostgres: async () => {
      await template.drop().finally(() => postgres.stop());
    },
  });
  // A disk takes milliseconds to flush a file, and the service and the provider flush many.
  if (hasRoomInMemory() && !process.env.TMPDIR) {
    process.env.TMPDIR = fs.mkdtempSync(path.join(memory, "recommender-tests-"));
    process.env.RECOMMENDER_TESTS_FOLDER = process.env.TMPDIR;
  }
  process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-state-"));
  // Messages are looked for as they are worded; where a terminal breaks them is tried by test/cli/terminal/width.test.ts.
  process.env.COLUMNS = "1000";
  const preload = JSON.stringify(path.join(__dirname, "fast-start.js"));
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --require ${preload}`.trim();
  process.env.RECOMMENDER_COMPILED = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-compiled-"));
  execFileSync(process.execPath, [
    path.join(__dirname, "write-compiled.js"),
    process.env.RECOMMENDER_COMPILED,
  ]);
  // Node reads the certificates of a proxy at every start, which takes twice as long as the start itself.
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  if (certificates) process.env.RECOMMENDER_CERTIFICATES = certificates;
  delete process.env.NODE_EXTRA_CA_CERTS;
  Object.assign(process.env, { VAULT_SERVER_URL: await startKeyKeeper(), VAULT_SERVER_TOKEN: "test" });
  // The engine's processes end before it would pay them to tidy up.
  Object.assign(process.env, { GOGC: "off", GOMEMLIMIT: "1GiB" });
  const places = [path.join(__dirname, "bin"), bin, path.dirname(process.execPath), process.env.PATH];
  process.env.PATH = places.join(path.delimiter);
};

function hasRoomInMemory() {
  try {
    const { bavail, bsize } = fs.statfsSync(memory);
    return bavail * bsize > wantedBytes;
  } catch {
    return false;
  }
}
