import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const repository = join(__dirname, "..", "..");

/** One of the programs in `programs/`. Ours runs with the dynamic binding and with the plugin binding. */
export type Program = "dynamic" | "plugin" | "no-op" | "serialised";

/** The cost of one engine command. */
export interface Ran {
  readonly seconds: number;
  /** CPU time of the engine and its child processes. Other work on the machine hardly affects it. */
  readonly cpuSeconds: number;
  /** Bytes that the engine wrote, mostly state. Known only on Linux. */
  readonly writtenBytes: number | undefined;
}

/** A Pulumi project with a file backend, and engine commands on it. */
export class BenchStack {
  private constructor(
    readonly directory: string,
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async create(program: Program, environment: Record<string, string>): Promise<BenchStack> {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "recommender-bench-up-")));
    for (const name of ["home", "state", "node_modules/pulumi-recommender"]) {
      mkdirSync(join(directory, name), { recursive: true });
    }
    symlinkSync(
      join(repository, "node_modules/@pulumi"),
      join(directory, "node_modules/@pulumi"),
      "junction",
    );
    const installed = join(directory, "node_modules/pulumi-recommender");
    symlinkSync(join(repository, "dist"), join(installed, "dist"), "junction");
    cpSync(join(repository, "package.json"), join(installed, "package.json"));
    const isOurs = program === "dynamic" || program === "plugin";
    cpSync(join(__dirname, "programs", `${isOurs ? "ours" : program}.ts`), join(directory, "index.ts"));
    writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "up", private: true }));
    const plugins = { providers: [{ name: "recommender", path: join(repository, "plugin") }] };
    writeFileSync(join(directory, "Pulumi.yaml"), JSON.stringify({ name: "up", runtime: "nodejs", plugins }));
    const stack = new BenchStack(directory, {
      PULUMI_HOME: join(directory, "home"),
      PULUMI_BACKEND_URL: `file://${join(directory, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "1",
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      RECOMMENDER_BINDING: program === "plugin" ? "plugin" : "dynamic",
      ...environment,
    });
    await stack.run(["stack", "init", "bench"]);
    return stack;
  }

  /** Runs an engine command. */
  async run(command: readonly string[], environment: Record<string, string> = {}): Promise<Ran> {
    const began = performance.now();
    const child = spawn("sh", ["-c", timed, "sh", "pulumi", ...command, "--non-interactive"], {
      cwd: this.directory,
      env: { ...process.env, ...this.environment, ...environment },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    let said = "";
    let times = "";
    child.stdio[3]?.on("data", (text) => {
      times += text;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (text) => {
        said += text;
      });
    }
    let writtenBytes: number | undefined;
    const watch = setInterval(() => {
      writtenBytes = writtenBy(childOf(child.pid)) ?? writtenBytes;
    }, 100);
    const [code] = await once(child, "close");
    clearInterval(watch);
    if (code !== 0)
      throw new Error(`pulumi ${command.join(" ")} exited with code ${code}: ${said.slice(-4000)}`);
    return { seconds: (performance.now() - began) / 1000, cpuSeconds: cpuSecondsOf(times), writtenBytes };
  }

  /** Returns the size of the state file. */
  get stateBytes(): number {
    return readFileSync(join(this.directory, "state/.pulumi/stacks/up/bench.json")).length;
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/**
 * Runs the command in a shell and prints the CPU time of its processes. The command does not run in the background,
 * because a shell makes background processes ignore SIGINT. The engine stops the program with SIGINT, and would then wait
 * five seconds.
 */
const timed = '"$@"; code=$?; times >&3; exit $code';

/** Parses the second line of `times`, the CPU time of child processes: `1m2.3s 0m4.5s`. */
function cpuSecondsOf(times: string): number {
  const [, children = ""] = times.split("\n").filter((line) => line.includes("m"));
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

/** Returns the first child of a process. Works only on Linux. */
function childOf(pid: number | undefined): number | undefined {
  try {
    return Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}

function writtenBy(pid: number | undefined): number | undefined {
  try {
    return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
