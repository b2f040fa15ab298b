import { execFileSync } from "node:child_process";

const script = `
require("@pulumi/pulumi");
const began = performance.now();
require("pulumi-recommender");
console.log(performance.now() - began);
`;

/** Milliseconds that a program takes to import the package, after the SDK that it needs anyway; the median. */
export function importMs(rounds = 21): number {
  const measured = Array.from({ length: rounds }, () =>
    Number(execFileSync(process.execPath, ["-e", script], { cwd: __dirname, encoding: "utf8" })),
  );
  return measured.sort((one, other) => one - other)[Math.floor(rounds / 2)] as number;
}
