import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Result of a script. */
interface ScriptResult {
  /** Exit code, or null if the script was killed. */
  readonly code: number | null;
  readonly printed: string;
}

/** Place and environment of a script. */
interface ScriptOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Options of bash, as the host passes them. */
  readonly flags: readonly string[];
}

/** Runs the scripts of jobs. */
export class Shell {
  readonly #running = new Set<ChildProcess>();

  /** Runs a script with bash and waits until it has exited. */
  async run(script: string, { cwd, env, flags }: ScriptOptions): Promise<ScriptResult> {
    const child = spawn("bash", [...flags, "-c", script], {
      cwd,
      env: { ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate process group, so the script can be killed with its children.
      detached: true,
    });
    this.#running.add(child);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        printed += text;
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    this.#running.delete(child);
    return { code, printed };
  }

  /** Kills all running scripts with their children. */
  kill(): void {
    for (const { pid } of this.#running) process.kill(-(pid as number), "SIGKILL");
  }
}
