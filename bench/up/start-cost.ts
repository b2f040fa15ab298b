import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const script = `
require("@pulumi/pulumi");
const began = performance.now();
require("pulumi-recommender");
console.log(performance.now() - began);
`;

/** Milliseconds that a program takes to import the package, after the SDK that it needs anyway; the median. */
export function importMs(rounds = 21): number {
  return median(
    Array.from({ length: rounds }, () =>
      Number(execFileSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" })),
    ),
  );
}

/** Milliseconds until the plugin says on which port the engine reaches it; the median. */
export async function startMs(rounds = 21): Promise<number> {
  const measured: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const plugin = spawn(join(__dirname, "../../plugin/pulumi-resource-recommender"), ["127.0.0.1:1"]);
    await once(plugin.stdout, "data");
    measured.push(performance.now() - began);
    plugin.kill("SIGINT");
    await once(plugin, "exit");
  }
  return median(measured);
}

function median(measured: readonly number[]): number {
  return [...measured].sort((one, other) => one - other)[Math.floor(measured.length / 2)] as number;
}
