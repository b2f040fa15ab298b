import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

/** The folder of the committed results, one file per benchmark. */
export const resultsFolder = join(__dirname, "..", "results");

/** What a benchmark set out to reach, and whether this run did. */
export interface Goal {
  readonly name: string;
  readonly goal: string;
  readonly value: number;
  readonly met: boolean;
}

/** What one run of a benchmark came to. Ratios are taken within the run, so that they hold on any machine. */
export interface Outcome {
  readonly ratios: Readonly<Record<string, unknown>>;
  readonly goals: readonly Goal[];
  readonly absolute: Readonly<Record<string, unknown>>;
  /** How much of what was measured. */
  readonly shape?: Readonly<Record<string, unknown>>;
  /** What people want to see beside the goals; all rows have the same columns. */
  readonly rows?: readonly Readonly<Record<string, string>>[];
}

const holds = {
  "≥": (value: number, bound: number) => value >= bound,
  ">": (value: number, bound: number) => value > bound,
  "≤": (value: number, bound: number) => value <= bound,
  "<": (value: number, bound: number) => value < bound,
  "=": (value: number, bound: number) => value === bound,
};

/** A goal, held against the value that was measured. */
export function goal(name: string, sign: keyof typeof holds, bound: number, value: number): Goal {
  return {
    name,
    goal: `${sign} ${bound}`,
    value: Number(value.toPrecision(4)),
    met: holds[sign](value, bound),
  };
}

/** Prints the goals and writes `bench/results/NAME.json`, unless the run was a trial at another scale. */
export function report(name: string, { ratios, goals, absolute, shape, rows }: Outcome): void {
  console.table(Object.fromEntries(goals.map(({ name, ...rest }) => [name, rest])));
  if (Number(process.env.BENCH_SCALE ?? 1) !== 1) return;
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
  };
  mkdirSync(resultsFolder, { recursive: true });
  const results = { ratios, goals, absolute, machine, ...(shape && { shape }), ...(rows && { rows }) };
  writeFileSync(join(resultsFolder, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}
