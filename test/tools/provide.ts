import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { GoProgram } from "../../tools/engine/pinned.js";
import { missingFrom } from "../../tools/engine/programs.js";
import { Progress } from "../../tools/engine/progress.js";
import type { ProvideOptions } from "../../tools/engine/provide.js";

/** Creates a directory that is deleted after the tests of the file. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "recommender-tools-"));
  directories.push(directory);
  return directory;
}

const directories: string[] = [];
afterAll(async () => {
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

/** Returns the directory of the engine, which the global setup has added to PATH. */
export function providedBin(): string {
  const bin = searchPath().find((directory) => missingFrom(directory).length === 0);
  if (bin === undefined)
    throw new Error("There is no engine on PATH. The global setup of the tests should have added it.");
  return bin;
}

/** Returns PATH without the directories of engines. */
export function pathWithoutEngine(): string {
  return searchPath()
    .filter((directory) => missingFrom(directory).length > 0)
    .join(delimiter);
}

const searchPath = () => (process.env.PATH ?? "").split(delimiter);

/** Creates a `Progress` that collects its output instead of printing it. */
export function heardProgress(): { progress: Progress; heard: string[] } {
  const heard: string[] = [];
  const write = (text: string | Uint8Array) => heard.push(String(text)) > 0;
  return { progress: new Progress({ write, isTTY: true }), heard };
}

/**
 * Creates two small Go programs that replace the engine's, because they build within a second. `go` is the version in
 * go.mod.
 */
export async function tinyPrograms(go = "1.21"): Promise<GoProgram[]> {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "go.mod"), `module tiny\n\ngo ${go}\n`);
  await writeFile(
    join(directory, "main.go"),
    `package main\n\nvar Version = "unset"\n\nfunc main() { say(Version) }\n`,
  );
  await writeFile(
    join(directory, "print.go"),
    'package main\n\nimport "os"\n\nfunc say(s string) { os.Stdout.WriteString(s + "\\n") }\n',
  );
  return [
    { name: "pulumi", directory, package: "tiny", versionVariable: "main.Version" },
    { name: "pulumi-language-nodejs", directory, package: "tiny" },
  ];
}

/** A run of `provideEngine` in a separate process. */
export interface Run {
  readonly process: ChildProcess;
  /** Returns its output on stderr so far. */
  said(): string;
  /** Resolves when its output contains `text`. */
  hasSaid(text: string): Promise<void>;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

/** Starts `provideEngine` in a separate process. */
export function startProviding(
  options: Omit<ProvideOptions, "env" | "progress">,
  env: NodeJS.ProcessEnv,
): Run {
  const provide = require.resolve("../../tools/engine/provide.js");
  const script = `require(${JSON.stringify(provide)}).provideEngine(${JSON.stringify(options)})
    .then((engine) => console.log(JSON.stringify(engine)))
    .catch((error) => { console.error(error.message); process.exitCode = 1; });`;
  const child = spawn(process.execPath, ["-e", script], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let said = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    said += text;
  });
  return {
    process: child,
    said: () => said,
    hasSaid: (text) =>
      new Promise((resolve, reject) => {
        const look = () => said.includes(text) && resolve();
        child.stderr.on("data", look);
        child.on("close", () => reject(new Error(`The process exited without printing "${text}": ${said}`)));
        look();
      }),
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, output }))),
  };
}

/** Returns the names of the files in a directory. */
export async function contentsOf(directory: string): Promise<string[]> {
  return (await readdir(directory)).sort();
}

/** Returns an environment in which Node reaches the npm registry through a proxy. The global setup removes its certificates. */
export function registryEnv(): NodeJS.ProcessEnv {
  const { RECOMMENDER_CERTIFICATES: certificates, ...rest } = process.env;
  return certificates ? { ...rest, NODE_EXTRA_CA_CERTS: certificates } : rest;
}
