import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const rounds = 21;

const script = `
const began = performance.now();
require("@pulumi/pulumi");
const sdk = performance.now() - began;
require("pulumi-recommender");
console.log(JSON.stringify({ sdk, ours: performance.now() - began - sdk }));
`;

/** Import times in milliseconds. */
export interface ImportMs {
  /** The Pulumi SDK, which every program needs. */
  readonly sdk: number;
  /** The package, after the SDK. */
  readonly ours: number;
}

/** Returns the median times of a program to import the SDK and then the package. */
export function importMs(): ImportMs {
  const run = () => execFileSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" });
  const measured: ImportMs[] = Array.from({ length: rounds }, () => JSON.parse(run()));
  return { sdk: medianOf(measured.map(({ sdk }) => sdk)), ours: medianOf(measured.map(({ ours }) => ours)) };
}

/** Returns the median time in milliseconds until the plugin prints its port. */
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
