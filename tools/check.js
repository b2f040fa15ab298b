const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { runCommand, runNpm } = require("./command.js");
const { installPackages, root } = require("./setup.js");

/**
 * `npm run check`: everything that can be said about the code without running it. Builds dist/ beside what needs none.
 * Without the package, nothing is said of what would be published.
 */
async function check({ withPackage = true } = {}) {
  const types = run({ name: "types", script: path.join(__dirname, "types.js"), args: [] });
  const ofCode = [
    {
      name: "lint and format",
      bin: ["@biomejs/biome", "biome"],
      args: ["check", "--error-on-warnings", "."],
    },
    {
      name: "direction of imports",
      bin: ["dependency-cruiser", "depcruise"],
      args: [
        "--output-type",
        "err-long",
        "contract",
        "client",
        "records",
        "provider",
        "console",
        "service",
        "cli",
        "tools",
      ],
    },
    { name: "unused code", bin: ["knip", "knip"], args: types.then(() => ["--no-progress"]) },
  ];
  const tarball = withPackage ? types.then(packPackage) : undefined;
  const ofPackage = tarball && [
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
  const others = [...ofCode, ...(ofPackage ?? [])].map(({ bin, ...check }) =>
    run({ ...check, script: binOf(bin) }),
  );
  const results = await Promise.all([types, ...others]);
  if (tarball) await fs.promises.rm(path.dirname(await tarball), { recursive: true });
  for (const { name, passed, output, seconds } of results) {
    if (!passed) console.log(output.trimEnd());
    console.log(`${passed ? "✓" : "✗"} ${name} (${seconds} s)`);
  }
  return results;
}

/** What would be published, as a file. The scripts are left out: dist/ is built already. */
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
async function run({ name, script, args: awaited }) {
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

/** The script behind a package's command; node_modules/.bin holds no scripts on Windows. @param {string[]} bin */
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
