import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { LocalWorkspace, PulumiCommand, type Stack } from "@pulumi/pulumi/automation";
import { transform } from "@swc/core";
import { readKeptState } from "./kept-state";

const repository = join(__dirname, "../..");

/** Stores the keys of stacks that do not use a passphrase: see tools/jest/fake-vault.js. */
export const secretsProvider = "hashivault://tests";

/** Pulumi project in a separate directory, with its own state and engine home. */
export interface EngineWorkspace {
  readonly directory: string;
  readonly stack: Stack;
  /** Replaces the program for the next run. */
  setProgram(source: string): Promise<void>;
  /** Deletes the directory with the state, without destroying resources. */
  dispose(): Promise<void>;
}

/**
 * Creates a project with the program `source`, which can import `@pulumi/pulumi` and `pulumi-recommender`. It is compiled
 * here unless it must stay an `index.ts`, because the engine would load the compiler for every command.
 * The setup of the tests has added the engine to the PATH.
 */
export async function engineWorkspace(
  source: string,
  env: Record<string, string> = {},
  language: "javascript" | "typescript" = "javascript",
): Promise<EngineWorkspace> {
  const directory = await linkedDirectory();
  const setProgram = async (text: string) => {
    if (language === "typescript") return writeFile(join(directory, "index.ts"), text);
    const { code } = await transform(text, {
      jsc: { parser: { syntax: "typescript" }, target: "es2022" },
      module: { type: "commonjs", noInterop: true },
    });
    await writeFile(join(directory, "index.js"), code);
  };
  await setProgram(source);
  await writeFile(join(directory, "Pulumi.yaml"), "name: test\nruntime: nodejs\n");
  await writeFile(join(directory, "package.json"), JSON.stringify({ name: "test", private: true }));
  const all = { RECOMMENDER_PROGRAM: language, ...env };
  return { ...(await stackIn(directory, directory, "test", all)), setProgram };
}

/** Creates a copy of an example in the repository. */
export async function exampleWorkspace(
  example: string,
  env: Record<string, string>,
  stackName = "test",
): Promise<EngineWorkspace> {
  const directory = await linkedDirectory();
  await cp(join(repository, "examples"), join(directory, "examples"), { recursive: true });
  // The quick start uses the Pulumi project of the repository.
  await cp(join(repository, "Pulumi.yaml"), join(directory, "Pulumi.yaml"));
  const exampleDirectory = join(directory, "examples", example);
  const isProject = existsSync(join(exampleDirectory, "Pulumi.yaml"));
  const setProgram = (text: string) => writeFile(join(exampleDirectory, "index.ts"), text);
  return {
    ...(await stackIn(directory, isProject ? exampleDirectory : directory, stackName, env)),
    setProgram,
  };
}

/** Creates a directory with the npm packages of a program, and with a home and a state for the engine. */
export async function linkedDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "recommender-engine-")));
  await mkdir(join(directory, "node_modules"));
  const modules = join(repository, "node_modules");
  await symlink(join(modules, "@pulumi"), join(directory, "node_modules/@pulumi"), "junction");
  // Only the published files, because the engine's language host reads all of node_modules.
  const installed = join(directory, "node_modules/pulumi-recommender");
  await mkdir(installed);
  await cp(join(repository, "package.json"), join(installed, "package.json"));
  await symlink(join(repository, "dist"), join(installed, "dist"), "junction");
  for (const name of ["home", "state"]) await mkdir(join(directory, name));
  return directory;
}

/** Installs the plugin of the built package for the engine of a directory. */
export async function installPlugin(directory: string): Promise<void> {
  const command = join(repository, "dist/cli/main.js");
  const env = { ...process.env, PULUMI_HOME: join(directory, "home") };
  await promisify(execFile)(process.execPath, [command, "plugin", "install"], { env });
}

async function stackIn(directory: string, workDir: string, stackName: string, env: Record<string, string>) {
  const state = join(directory, "state");
  const stack = await LocalWorkspace.createStack(
    { stackName, workDir },
    {
      pulumiCommand: await engine(),
      secretsProvider: env.PULUMI_CONFIG_PASSPHRASE ? "passphrase" : secretsProvider,
      envVars: {
        PULUMI_HOME: join(directory, "home"),
        PULUMI_BACKEND_URL: `file://${state}`,
        PULUMI_SKIP_UPDATE_CHECK: "1",
        // `npm run check` checks the types, so the program skips that.
        PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        ...env,
      },
    },
  );
  readKeptState(stack, state);
  return { directory, stack, dispose: () => rm(directory, { recursive: true, force: true }) };
}

let found: Promise<PulumiCommand> | undefined;

/** Engine on the PATH. Looking it up starts it once, so the result is cached. */
export function engine(): Promise<PulumiCommand> {
  found ??= PulumiCommand.get();
  return found;
}
