import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The best of them counts: whatever else the machine has to do only adds to it. */
const rounds = 21;

const script = `
require("@pulumi/pulumi");
const began = process.cpuUsage();
require("pulumi-recommender");
const { user, system } = process.cpuUsage(began);
console.log((user + system) / 1000);
`;

/** Milliseconds of processor time that a program takes to import the package, after the SDK that it needs anyway. */
export function importMs(): number {
  const run = () => execFileSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" });
  return Math.min(...Array.from({ length: rounds }, () => Number(run())));
}

/** Milliseconds until the plugin has told the engine its port, and how many of them it was at work. */
export async function pluginStart(): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const measured: { ms: number; cpuMs: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const plugin = spawn(join(__dirname, "../../plugin/pulumi-resource-recommender"), ["127.0.0.1:1"]);
    await once(plugin.stdout, "data");
    const ms = performance.now() - began;
    measured.push({ ms, cpuMs: cpuMsOf(plugin.pid) ?? ms });
    plugin.kill("SIGINT");
    await once(plugin, "exit");
  }
  return {
    ms: Math.min(...measured.map(({ ms }) => ms)),
    cpuMs: Math.min(...measured.map(({ cpuMs }) => cpuMs)),
  };
}

/** What a process has had of the processor; known only on Linux, which counts in hundredths of a second. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const [user, system] = fields.split(" ").slice(11, 13).map(Number);
    return 10 * ((user ?? 0) + (system ?? 0));
  } catch {
    return undefined;
  }
}
