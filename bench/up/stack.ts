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

/** One of the programs in `programs/`; ours is carried by a dynamic provider and by the plugin. */
export type Program = "dynamic" | "plugin" | "no-op" | "serialised";

/** What one command of the engine took. */
export interface Ran {
  readonly seconds: number;
  /** Of the engine and all that it started; it stays the same when the machine has other work too. */
  readonly cpuSeconds: number;
  /** All that the engine itself wrote, its state first of all; known only on Linux. */
  readonly writtenBytes: number | undefined;
}

/** A project of a user, with a state in files, and the engine's commands on it. */
export class BenchStack {
  private constructor(
    readonly folder: string,
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  static async create(program: Program, environment: Record<string, string>): Promise<BenchStack> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "recommender-bench-up-")));
    for (const name of ["home", "state", "node_modules/pulumi-recommender"]) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    symlinkSync(join(repository, "node_modules/@pulumi"), join(folder, "node_modules/@pulumi"), "junction");
    const installed = join(folder, "node_modules/pulumi-recommender");
    symlinkSync(join(repository, "dist"), join(installed, "dist"), "junction");
    cpSync(join(repository, "package.json"), join(installed, "package.json"));
    const isOurs = program === "dynamic" || program === "plugin";
    cpSync(join(__dirname, "programs", `${isOurs ? "ours" : program}.ts`), join(folder, "index.ts"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "up", private: true }));
    const plugins = { providers: [{ name: "recommender", path: join(repository, "plugin") }] };
    writeFileSync(join(folder, "Pulumi.yaml"), JSON.stringify({ name: "up", runtime: "nodejs", plugins }));
    const stack = new BenchStack(folder, {
      PULUMI_HOME: join(folder, "home"),
      PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "bench",
      PULUMI_SKIP_UPDATE_CHECK: "1",
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      RECOMMENDER_CARRIER: program === "plugin" ? "plugin" : "dynamic",
      ...environment,
    });
    await stack.run(["stack", "init", "bench"]);
    return stack;
  }

  /** Runs one command of the engine to its end. */
  async run(command: readonly string[], environment: Record<string, string> = {}): Promise<Ran> {
    const began = performance.now();
    const child = spawn("sh", ["-c", timed, "sh", "pulumi", ...command, "--non-interactive"], {
      cwd: this.folder,
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
      throw new Error(`pulumi ${command.join(" ")} ended with code ${code}: ${said.slice(-4000)}`);
    return { seconds: (performance.now() - began) / 1000, cpuSeconds: cpuSecondsOf(times), writtenBytes };
  }

  /** Size of the state as it lies on the disk. */
  get stateBytes(): number {
    return readFileSync(join(this.folder, "state/.pulumi/stacks/up/bench.json")).length;
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Runs the command and says what it and all that it waited for took. Not in the background, where a shell has it ignore
 * interrupts: the engine ends the program by one, and would wait five seconds for it.
 */
const timed = '"$@"; code=$?; times >&3; exit $code';

/** The second line of `times` is about children: `1m2.3s 0m4.5s`. */
function cpuSecondsOf(times: string): number {
  const [, children = ""] = times.split("\n").filter((line) => line.includes("m"));
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

/** The first process that another one started; known only on Linux. */
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
