import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const rounds = 21;

const script = `
require("@pulumi/pulumi");
const began = performance.now();
require("pulumi-recommender");
console.log(performance.now() - began);
`;

/** Milliseconds that a program takes to import the package, after the SDK that it needs anyway; the median. */
export function importMs(): number {
  const run = () => execFileSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" });
  return medianOf(Array.from({ length: rounds }, () => Number(run())));
}

/** Milliseconds until the plugin has told the engine its port; the median. */
export async function pluginStartMs(): Promise<number> {
  const measured: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const plugin = spawn(join(__dirname, "../../plugin/pulumi-resource-recommender"), ["127.0.0.1:1"]);
    await once(plugin.stdout, "data");
    measured.push(performance.now() - began);
    plugin.kill("SIGINT");
    await once(plugin, "exit");
  }
  return medianOf(measured);
}

function medianOf(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] as number;
}
