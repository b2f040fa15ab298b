import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Loading } from "./loading";

const main = join(__dirname, "../../dist/cli/main.js");

/** Result of a command. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly upserts: number;
}

/** Runs a command in a separate process, which can be ended after some upserts. */
export async function runCommand(
  loading: Loading,
  args: readonly string[],
  {
    killAfterUpserts,
    signal: sent = "SIGKILL",
    env: more = {},
    input,
  }: {
    readonly killAfterUpserts?: number | undefined;
    readonly signal?: NodeJS.Signals;
    readonly env?: Record<string, string>;
    /** Content of standard input. */
    readonly input?: string | Buffer;
  } = {},
): Promise<Ended> {
  loading.observed.calls();
  const env = { ...process.env, ...loading.observed.environment, ...more };
  const child = spawn(process.execPath, [main, ...args], { cwd: loading.directory.path, env });
  child.stdin.end(input);
  let stdout = "";
  let stderr = "";
  let upserts = 0;
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const watch = setInterval(() => {
    upserts += loading.upserts();
    // Sent only once, because a second Ctrl+C ends a command immediately.
    if (!child.killed && killAfterUpserts !== undefined && upserts >= killAfterUpserts) child.kill(sent);
  }, 2);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("close", (...end) => resolve(end)),
  );
  clearInterval(watch);
  // On a busy machine, the command takes long enough to print its progress.
  const said = stderr.replaceAll(/^.* \| .*\/s \| .* left\n/gm, "");
  return { code, signal, stdout, stderr: said, upserts: upserts + loading.upserts() };
}
