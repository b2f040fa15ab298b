const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const { executable, fileNames } = require("./programs.js");
const { SourceUnavailable, codeOf, reasonOf } = require("./errors.js");

/** @typedef {import("./pinned.js").GoProgram} GoProgram */

/**
 * @typedef {object} BuildOptions
 * @property {string} version
 * @property {GoProgram[]} programs
 * @property {string} bin
 * @property {import("./progress.js").Progress} progress
 * @property {AbortSignal} signal
 * @property {NodeJS.ProcessEnv} env
 */

/** Builds the engine into `bin` from the pinned Go modules. @param {BuildOptions} options */
async function buildEngine(options) {
  await buildPrograms(options);
  await copyDynamicProvider(options.bin);
}

/** Builds programs into `bin` from the pinned Go modules. @param {BuildOptions} options */
async function buildPrograms({ version, programs, bin, progress, signal, env }) {
  /** @type {GoRunner} */
  const go = (program, args, onLine) => runGo(args, { cwd: program.directory, env, signal }, onLine);
  await requireGo(programs, go);

  const stale = new Map();
  for (const program of programs) stale.set(program, await countStale(program, go, progress));
  const total = [...stale.values()].reduce((sum, count) => sum + count, 0);
  progress.say(`building ${version} from source: ${total} packages to compile`);

  let compiled = 0;
  for (const program of programs) {
    const source = await sourceOf(program, path.join(bin, "..", "source"), go);
    const end = compiled + stale.get(program);
    const flags = program.versionVariable ? ` -X ${program.versionVariable}=v${version}` : "";
    const output = path.join(bin, executable(program.name));
    const args = ["build", "-v", "-mod=readonly", "-buildvcs=false", `-ldflags=-s -w${flags}`];
    const ticking = setInterval(() => progress.at(buildProgress(compiled, end, total, program)), 1_000);
    try {
      await go(source, [...args, "-o", output, source.package], () => {
        compiled = Math.min(compiled + 1, end);
        progress.at(buildProgress(compiled, end, total, program));
      });
    } finally {
      clearInterval(ticking);
    }
    compiled = end;
    if (program.companion) await copyCompanion(program, program.companion, bin, go);
  }
  await fs.promises.rm(path.join(bin, "..", "source"), { recursive: true, force: true });
}

/** @param {GoProgram} program @param {string} name @param {string} bin @param {GoRunner} go */
async function copyCompanion(program, name, bin, go) {
  const file = path.join(bin, name);
  await fs.promises.copyFile(path.join(await sourceDirectoryOf(program, go), "..", name), file);
  await fs.promises.chmod(file, 0o755);
}

/** Returns the directory with the source of a program. @param {GoProgram} program @param {GoRunner} go */
async function sourceDirectoryOf(program, go) {
  let directory = "";
  await go(program, ["list", "-mod=readonly", "-f", "{{.Dir}}", program.package], (line) => {
    directory = line;
  });
  return directory;
}

/**
 * Returns the program to build. Go cannot replace a file of a downloaded module. So the source of a program with patches
 * is copied to a new module with the same pinned dependencies, and patched there. Go files next to go.mod are added.
 * @param {GoProgram} program
 * @param {string} directory
 * @param {GoRunner} go
 * @returns {Promise<GoProgram>}
 */
async function sourceOf(program, directory, go) {
  const { patches } = program;
  if (!patches) return program;
  const original = await sourceDirectoryOf(program, go);
  await fs.promises.mkdir(directory);
  const files = (await fs.promises.readdir(original)).filter((name) => /(?<!_test)\.go$/.test(name));
  for (const name of files) {
    const text = await fs.promises.readFile(path.join(original, name), "utf8");
    const patched = patches
      .filter(({ file }) => file === name)
      .reduce((source, { from, to }) => {
        if (source.split(from).length !== 2)
          throw new Error(`${name} of ${program.package} must contain \`${from}\` exactly once`);
        return source.replace(from, () => to);
      }, text);
    await fs.promises.writeFile(path.join(directory, name), patched);
  }
  for (const name of (await fs.promises.readdir(program.directory)).filter((name) =>
    /^go\.(mod|sum)$|\.go$/.test(name),
  ))
    await fs.promises.copyFile(path.join(program.directory, name), path.join(directory, name));
  return { ...program, directory, package: "." };
}

/** @param {number} compiled @param {number} end @param {number} total @param {GoProgram} program */
function buildProgress(compiled, end, total, program) {
  if (compiled === end) return `linking ${program.name}`;
  return `compiling ${Math.floor((compiled / total) * 100)} % (${compiled} of ${total} packages)`;
}

/**
 * Counts the packages that are not in Go's build cache, and downloads the modules.
 * @param {GoProgram} program
 * @param {GoRunner} go
 * @param {import("./progress.js").Progress} progress
 */
async function countStale(program, go, progress) {
  let downloaded = 0;
  let count = 0;
  const format = "{{if .Stale}}{{.ImportPath}}{{end}}";
  await go(program, ["list", "-mod=readonly", "-deps", "-f", format, program.package], (line) => {
    if (line.startsWith("go: downloading")) progress.at(`downloading Go modules (${++downloaded} so far)`);
    else if (line !== "" && !line.startsWith("go: ")) count++;
  });
  return count;
}

/** Throws if Go is missing, or older than go.mod requires. @param {GoProgram[]} programs @param {GoRunner} go */
async function requireGo(programs, go) {
  const wanted = programs
    .map(({ directory }) => fs.readFileSync(path.join(directory, "go.mod"), "utf8"))
    .map((text) => /^go (\S+)/m.exec(text)?.[1] ?? "")
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  for (const program of programs) {
    try {
      await go(program, ["list", "-m"], () => {});
    } catch (error) {
      const absent = codeOf(error) === "ENOENT";
      const fix = `Install Go ${wanted} or newer (go.dev/dl) and put \`go\` on PATH.`;
      throw new SourceUnavailable(absent ? "there is no `go` on PATH" : reasonOf(error), fix);
    }
  }
}

/** Copies the dynamic provider, a script of the SDK that the engine starts. @param {string} bin */
async function copyDynamicProvider(bin) {
  const script = /** @type {string} */ (fileNames.find((name) => name.includes("resource-pulumi-nodejs")));
  const sdk = path.dirname(require.resolve("@pulumi/pulumi/package.json"));
  await fs.promises.copyFile(path.join(sdk, script), path.join(bin, script));
  await fs.promises.chmod(path.join(bin, script), 0o755);
}

/** @typedef {(program: GoProgram, args: string[], onLine: (line: string) => void) => Promise<void>} GoRunner */

/**
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal }} options
 * @param {(line: string) => void} onLine receives both streams, because `go` prints its progress to stderr
 * @returns {Promise<void>}
 */
function runGo(args, { cwd, env, signal }, onLine) {
  return new Promise((resolve, reject) => {
    // Without cgo, no C compiler is needed. A go.work file in a parent directory must not override the pinned versions.
    const goEnv = { ...env, CGO_ENABLED: "0", GOWORK: "off" };
    const child = spawn("go", args, { cwd, env: goEnv, signal, stdio: ["ignore", "pipe", "pipe"] });
    /** @type {string[]} */
    const lastLines = [];
    for (const stream of [child.stdout, child.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => {
        lastLines.splice(0, lastLines.length - 4);
        lastLines.push(line);
        onLine(line);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve();
      const fix = "Make the Go module proxy reachable (see `go env GOPROXY`) and run this again.";
      reject(new SourceUnavailable(`\`go ${args[0]}\` failed: ${lastLines.join(" / ")}`, fix));
    });
  });
}

module.exports = { buildEngine, buildPrograms };
