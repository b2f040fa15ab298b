import { spawn } from "node:child_process";
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

/** Runs a script with bash and waits until it has exited. */
export async function runScript(script: string, { cwd, env, flags }: ScriptOptions): Promise<ScriptResult> {
  const child = spawn("bash", [...flags, "-c", script], {
    cwd,
    env: { ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      printed += text;
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code, printed };
}
