const fs = require("node:fs");
const path = require("node:path");
const { CommandFailed, run, runNpm } = require("./command.js");

/** The top folder of the checkout. */
const root = path.join(__dirname, "..");

/**
 * Installs the packages of package-lock.json unless exactly they are installed already. npm leaves its own
 * lock file in node_modules as the last step, so an interrupted installation is noticed too.
 */
async function installPackages() {
  if (packagesAreInstalled()) return;
  console.error("Installing packages");
  await runNpm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: root });
}

function packagesAreInstalled() {
  const wanted = lockedPackages("package-lock.json");
  const installed = lockedPackages("node_modules/.package-lock.json");
  return Object.entries(wanted ?? {}).every(
    ([name, { version, optional }]) =>
      name === "" || installed?.[name]?.version === version || (optional && installed !== undefined),
  );
}

/**
 * @param {string} file
 * @returns {Record<string, { version: string, optional?: boolean }> | undefined}
 */
function lockedPackages(file) {
  try {
    return JSON.parse(fs.readFileSync(path.join(root, file), "utf8")).packages;
  } catch {
    return undefined;
  }
}

const dist = path.join(root, "dist");
/** The folders of the package's code. */
const rooms = ["contract", "client", "records", "provider", "service", "cli"];
const sources = [...rooms, "console", "openapi.json", "package.json", "tsconfig.json", "tsconfig.build.json"];

const stamp = path.join(dist, ".sources.json");

/** Compiles dist/ unless no source changed since it was last compiled. */
async function buildPackage() {
  const now = await prepareBuild();
  if (!now) return;
  console.error("Building dist/");
  const compiler = require.resolve("typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root });
  await finishBuild(now);
}

/**
 * The times of the sources that dist/ is to be compiled from; none where it is of these already.
 * @returns {Promise<Record<string, number> | undefined>}
 */
async function prepareBuild() {
  const now = Object.fromEntries(sources.flatMap(filesUnder).map((file) => [file, modifiedMs(file)]));
  /** @type {Record<string, number>} */
  const then = fs.existsSync(stamp) ? JSON.parse(fs.readFileSync(stamp, "utf8")) : {};
  if (JSON.stringify(now) === JSON.stringify(then)) return undefined;
  // The compiler does not remove what a deleted source had become.
  if (Object.keys(then).some((file) => !(file in now))) await removeBuilt();
  return now;
}

/**
 * Makes a package of what was compiled. Without the times of its sources it counts as not built, for they have errors.
 * @param {Record<string, number>} [of]
 */
async function finishBuild(of) {
  await trimPackageJson();
  await require("./console.js").buildConsole(root, dist);
  // npm makes it so when it links the command, and the compiler has just written it anew.
  await fs.promises.chmod(path.join(dist, "cli", "main.js"), 0o755);
  if (of) await fs.promises.writeFile(stamp, JSON.stringify(of));
}

/** The same for tests: an error in one file must not keep the others from being tested. */
async function buildForTests() {
  try {
    await buildPackage();
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.error("dist/ was built in spite of these errors; `npm run check` fails for them.");
    await finishBuild();
  }
}

/**
 * The compiler copies package.json because the code imports its version. A whole second package.json would
 * be the nearest one to everything in dist/, with a name and exports that lead nowhere.
 */
async function trimPackageJson() {
  const file = path.join(dist, "package.json");
  if (!fs.existsSync(file)) return;
  const { version, type } = JSON.parse(await fs.promises.readFile(file, "utf8"));
  await fs.promises.writeFile(file, JSON.stringify({ version, type }));
}

/** Removes all of dist/. */
const removeBuilt = () => fs.promises.rm(dist, { recursive: true, force: true });

/** @param {string} file @returns {string[]} paths of the files, relative to the root */
function filesUnder(file) {
  const stat = fs.statSync(path.join(root, file), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isFile()) return [file];
  return fs.readdirSync(path.join(root, file)).flatMap((name) => filesUnder(path.join(file, name)));
}

/** @param {string} file */
const modifiedMs = (file) => Math.round(fs.statSync(path.join(root, file)).mtimeMs);

module.exports = {
  root,
  rooms,
  installPackages,
  buildPackage,
  buildForTests,
  prepareBuild,
  finishBuild,
  removeBuilt,
};
