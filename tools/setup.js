const fs = require("node:fs");
const path = require("node:path");
const { CommandFailed, run, runNpm } = require("./command.js");

/** The root directory of the repository. */
const root = path.join(__dirname, "..");

/**
 * Installs the packages of package-lock.json, unless the same versions are installed already. npm writes
 * node_modules/.package-lock.json as its last step, so this also repairs an interrupted installation.
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
/** The directories that are compiled to dist/. */
const sourceDirectories = [
  "contract",
  "expressions",
  "telemetry",
  "client",
  "records",
  "provider",
  "service",
  "cli",
];
const sources = [
  ...sourceDirectories,
  "console",
  "openapi.json",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/** Contains the modification times of the sources that dist/ was built from. */
const stamp = path.join(dist, ".sources.json");

/** Builds dist/ if a source has changed since the last build. */
async function buildPackage() {
  const now = await prepareBuild();
  if (!now) return;
  console.error("Building dist/");
  const compiler = require.resolve("typescript/bin/tsc");
  await run(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root });
  await finishBuild(now);
}

/**
 * Prepares dist/ for a build.
 * @returns {Promise<Record<string, number> | undefined>} the modification times of the sources, or undefined if dist/ is
 * up to date
 */
async function prepareBuild() {
  const now = Object.fromEntries(sources.flatMap(filesUnder).map((file) => [file, modifiedMs(file)]));
  /** @type {Record<string, number>} */
  const then = fs.existsSync(stamp) ? JSON.parse(fs.readFileSync(stamp, "utf8")) : {};
  if (JSON.stringify(now) === JSON.stringify(then)) return undefined;
  // The compiler does not delete the output of deleted sources.
  if (Object.keys(then).some((file) => !(file in now))) await removeBuilt();
  // If this build fails or is killed, dist/ no longer belongs to the sources of the build before.
  await fs.promises.rm(stamp, { force: true });
  return now;
}

/**
 * Completes dist/ after the compiler has run.
 * @param {Record<string, number>} [modified] the result of `prepareBuild`. Omit it if the sources have errors: the next
 * build then starts again.
 */
async function finishBuild(modified) {
  await trimPackageJson();
  await require("./console.js").buildConsole(root, dist);
  // The compiler has overwritten the file, and with it the permission that npm sets when it links the command.
  await fs.promises.chmod(path.join(dist, "cli", "main.js"), 0o755);
  if (modified) await fs.promises.writeFile(stamp, JSON.stringify(modified));
}

/** The compiler's exit code if it has written its output despite errors in the sources. */
const builtWithErrors = 2;

/** Builds dist/ even if the types have errors, because an error in one file must not prevent the tests of all files. */
async function buildForTests() {
  try {
    await buildPackage();
  } catch (error) {
    if (!(error instanceof CommandFailed) || error.exitCode !== builtWithErrors) throw error;
    console.error("dist/ was built despite these errors. `npm run check` reports them as a failure.");
    await finishBuild();
  }
}

/**
 * Reduces dist/package.json to two fields. The compiler copies the whole file because the code imports its version, but
 * Node would then resolve imports of the package by this copy, whose exports point to files that do not exist.
 */
async function trimPackageJson() {
  const file = path.join(dist, "package.json");
  if (!fs.existsSync(file)) return;
  const { version, type } = JSON.parse(await fs.promises.readFile(file, "utf8"));
  await fs.promises.writeFile(file, JSON.stringify({ version, type }));
}

/** Deletes dist/. */
const removeBuilt = () => fs.promises.rm(dist, { recursive: true, force: true });

/** @param {string} file @returns {string[]} the paths of all files, relative to the root */
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
  sourceDirectories,
  installPackages,
  buildPackage,
  buildForTests,
  prepareBuild,
  finishBuild,
  removeBuilt,
};
