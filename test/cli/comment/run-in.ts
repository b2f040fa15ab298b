import { spawn } from "node:child_process";
import { once } from "node:events";
import { command } from "../../service/process";

/** Variables of pipelines, which must not reach the commands of tests. */
const pipelineVariables = /^(CI_|GITHUB_|GITLAB_|GH_)/;

/** Runs a command as in a pipeline with the given variables. */
export async function runIn(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; out: string; err: string }> {
  const kept = Object.entries(process.env).filter(([name]) => !pipelineVariables.test(name));
  const child = spawn(process.execPath, [command, ...args], {
    cwd,
    env: { ...Object.fromEntries(kept), ...env },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    err += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}
