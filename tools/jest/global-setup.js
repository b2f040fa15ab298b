const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { provideForTests } = require("../engine/provide.js");
const { startPostgres } = require("../postgres/start.js");
const { createTemplate } = require("../postgres/template.js");
const { buildForTests } = require("../setup.js");
const { startFakeVault } = require("./fake-vault.js");

/** Linux keeps files in this directory in memory. */
const memoryDirectory = "/dev/shm";
const neededMemoryBytes = 4 * 2 ** 30;

/**
 * Runs once before all tests, in jest's main process. Workers and the processes that tests start inherit the
 * environment variables that are set here.
 */
module.exports = async () => {
  // Tests run as on a developer's machine. On a CI runner, the provider rejects a stack without a service address.
  for (const name of ["CI", "TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"])
    delete process.env[name];
  await buildForTests();
  const { bin } = await provideForTests();
  // PostgreSQL starts before TMPDIR changes: it runs as another user, who cannot read the new directory.
  await startDatabase();
  useTemporaryDirectories();
  // The engine derives the key of a stack from this Vault faster than from a passphrase.
  Object.assign(process.env, { VAULT_SERVER_URL: await startFakeVault(), VAULT_SERVER_TOKEN: "test" });
  // Tests search for messages, so lines must not wrap. test/cli/terminal/width.test.ts tests wrapping.
  process.env.COLUMNS = "1000";
  startProcessesFaster();
  const directories = [bin, path.dirname(process.execPath), process.env.PATH];
  process.env.PATH = directories.join(path.delimiter);
};

/** Starts PostgreSQL and creates the database that tests copy. The teardown stops it. */
async function startDatabase() {
  const postgres = await startPostgres();
  const template = await createTemplate(postgres.url);
  process.env.TEST_DATABASE_URL = postgres.url;
  process.env.TEST_DATABASE_TEMPLATE = template.name;
  const stopPostgres = () => template.drop().finally(() => postgres.stop());
  Object.assign(globalThis, { stopPostgres });
}

/** Puts temporary files into memory if there is room, because the service flushes many files to disk. */
function useTemporaryDirectories() {
  if (!process.env.TMPDIR && hasFreeMemory()) {
    process.env.TMPDIR = fs.mkdtempSync(path.join(memoryDirectory, "recommender-tests-"));
    process.env.RECOMMENDER_TESTS_DIRECTORY = process.env.TMPDIR;
  }
  process.env.XDG_STATE_HOME = fs.mkdtempSync(path.join(os.tmpdir(), "recommender-state-"));
}

function hasFreeMemory() {
  try {
    const { bavail, bsize } = fs.statfsSync(memoryDirectory);
    return bavail * bsize > neededMemoryBytes;
  } catch {
    return false;
  }
}

/** Reduces the cost of the thousands of processes that tests start. */
function startProcessesFaster() {
  const preload = JSON.stringify(path.join(__dirname, "preload.js"));
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --require ${preload}`.trim();
  // Node reads these certificates at every start, which takes longer than the start. Tests that use the network set it again.
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  if (certificates) process.env.RECOMMENDER_CERTIFICATES = certificates;
  delete process.env.NODE_EXTRA_CA_CERTS;
  // An engine command is too short for garbage collection to pay off.
  Object.assign(process.env, { GOGC: "off", GOMEMLIMIT: "1GiB" });
}
