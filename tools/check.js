const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { runCommand, runNpm } = require("./command.js");
const { installPackages, root, sourceDirectories } = require("./setup.js");

/**
 * `npm run check`: runs all checks that do not run the code, and builds dist/. The checks run at the same time; those
 * that need dist/ wait for it. `withPackage: false` leaves out the checks of the npm package.
 */
async function check({ withPackage = true } = {}) {
  const types = runCheck({ name: "types", script: path.join(__dirname, "types.js"), args: [] });
  const codeChecks = [
    {
      name: "lint and format",
      bin: ["@biomejs/biome", "biome"],
      args: ["check", "--error-on-warnings", "."],
    },
    {
      name: "import rules",
      bin: ["dependency-cruiser", "depcruise"],
      args: ["--output-type", "err-long", ...sourceDirectories, "console", "web", "tools"],
    },
    { name: "unused code", bin: ["knip", "knip"], args: types.then(() => ["--no-progress"]) },
  ];
  const tarball = withPackage ? types.then(packPackage) : undefined;
  const packageChecks = tarball && [
    {
      name: "package (publint)",
      bin: ["publint", "publint"],
      args: tarball.then((file) => ["--strict", file]),
    },
    {
      name: "package types (attw)",
      bin: ["@arethetypeswrong/cli", "attw"],
      args: tarball.then((file) => [file]),
    },
  ];
  const others = [...codeChecks, ...(packageChecks ?? [])].map(({ bin, ...check }) =>
    runCheck({ ...check, script: binOf(bin) }),
  );
  const results = await Promise.all([types, ...others]);
  if (tarball) await fs.promises.rm(path.dirname(await tarball), { recursive: true });
  for (const { name, passed, output, seconds } of results) {
    if (!passed) console.log(output.trimEnd());
    console.log(`${passed ? "✓" : "✗"} ${name} (${seconds} s)`);
  }
  return results;
}

/** Packs the npm package as it would be published, without running its build again. @returns the path of the tarball */
async function packPackage() {
  const directory = await fs.promises.mkdtemp(path.join(os.tmpdir(), "recommender-pack-"));
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", directory];
  await runNpm(args, { cwd: root, stdout: "ignore" });
  const [tarball = ""] = await fs.promises.readdir(directory);
  return path.join(directory, tarball);
}

/**
 * @param {{ name: string, script: string, args: string[] | Promise<string[]> }} check
 * @returns {Promise<{ name: string, passed: boolean, output: string, seconds: string }>}
 */
async function runCheck({ name, script, args: awaited }) {
  const args = await awaited;
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    child.on("close", (code) => {
      resolve({ name, passed: code === 0, output, seconds: ((Date.now() - started) / 1000).toFixed(1) });
    });
  });
}

/** Returns the script of a package's command. On Windows, node_modules/.bin contains no scripts. @param {string[]} bin */
function binOf([name = "", command = ""]) {
  const directory = path.join(root, "node_modules", name);
  const { bin } = JSON.parse(fs.readFileSync(path.join(directory, "package.json"), "utf8"));
  return path.join(directory, typeof bin === "string" ? bin : bin[command]);
}

module.exports = { check };

if (require.main === module) {
  runCommand(async () => {
    await installPackages();
    const failed = (await check()).filter(({ passed }) => !passed);
    if (failed.length > 0) throw new Error(`Failed: ${failed.map(({ name }) => name).join(", ")}.`);
  });
}
