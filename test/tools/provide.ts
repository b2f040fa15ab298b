import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { GoProgram } from "../../tools/engine/pinned.js";
import { missingFrom } from "../../tools/engine/programs.js";
import { Progress } from "../../tools/engine/progress.js";
import type { ProvideOptions } from "../../tools/engine/provide.js";

/** A folder that is removed after the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "recommender-tools-"));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** The folder of the engine that the set-up of the tests has put on PATH. */
export function providedBin(): string {
  const bin = searchPath().find((folder) => missingFrom(folder).length === 0);
  if (bin === undefined) throw new Error("The set-up of the tests has put no engine on PATH.");
  return bin;
}

/** PATH with everything on it but engines. */
export function pathWithoutEngine(): string {
  return searchPath()
    .filter((folder) => missingFrom(folder).length > 0)
    .join(delimiter);
}

const searchPath = () => (process.env.PATH ?? "").split(delimiter);

/** Progress that is kept instead of shown. */
export function heardProgress(): { progress: Progress; heard: string[] } {
  const heard: string[] = [];
  const write = (text: string | Uint8Array) => heard.push(String(text)) > 0;
  return { progress: new Progress({ write, isTTY: true }), heard };
}

/**
 * Two Go programs that take the place of the engine's: the mechanism is the same, the build takes a second.
 * `go` is the version that go.mod asks for.
 */
export async function tinyPrograms(go = "1.21"): Promise<GoProgram[]> {
  const directory = await temporaryFolder();
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

/** A run of `provideEngine` in a process of its own. */
export interface Run {
  readonly process: ChildProcess;
  /** What it has said so far on standard error. */
  said(): string;
  /** Settles as soon as it has said `text`. */
  hasSaid(text: string): Promise<void>;
  readonly ended: Promise<{ code: number | null; output: string }>;
}

/** Starts `provideEngine` in a process of its own. */
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
        child.on("close", () => reject(new Error(`It ended without saying "${text}": ${said}`)));
        look();
      }),
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, output }))),
  };
}

/** What lies in a cache folder, by name. */
export async function contentsOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).sort();
}

/** Surroundings in which Node reaches the npm registry: the set-up of the tests keeps a proxy's certificates from it. */
export function registryEnv(): NodeJS.ProcessEnv {
  const { RECOMMENDER_CERTIFICATES: certificates, ...rest } = process.env;
  return certificates ? { ...rest, NODE_EXTRA_CA_CERTS: certificates } : rest;
}
