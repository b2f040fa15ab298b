import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

/** The directory of the committed results, one file for each benchmark. */
export const resultsDirectory = join(__dirname, "..", "results");

/** A goal of a benchmark, and whether this run reached it. */
export interface Goal {
  readonly name: string;
  readonly goal: string;
  readonly value: number;
  readonly met: boolean;
}

/** The result of one run of a benchmark. Ratios compare values of the same run, so they apply to any machine. */
export interface Outcome {
  readonly ratios: Readonly<Record<string, unknown>>;
  readonly goals: readonly Goal[];
  readonly absolute: Readonly<Record<string, unknown>>;
  /** The size of the data. */
  readonly shape?: Readonly<Record<string, unknown>>;
  /** Additional figures for the documentation. All rows have the same columns. */
  readonly rows?: readonly Readonly<Record<string, string>>[];
}

const holds = {
  "≥": (value: number, bound: number) => value >= bound,
  ">": (value: number, bound: number) => value > bound,
  "≤": (value: number, bound: number) => value <= bound,
  "<": (value: number, bound: number) => value < bound,
  "=": (value: number, bound: number) => value === bound,
};

/** Returns a goal with the measured value. */
export function goal(name: string, sign: keyof typeof holds, bound: number, value: number): Goal {
  return {
    name,
    goal: `${sign} ${bound}`,
    value: Number(value.toPrecision(4)),
    met: holds[sign](value, bound),
  };
}

/** Prints the goals and writes `bench/results/NAME.json`, unless the run used another scale. */
export function report(name: string, { ratios, goals, absolute, shape, rows }: Outcome): void {
  console.table(Object.fromEntries(goals.map(({ name, ...rest }) => [name, rest])));
  if (Number(process.env.BENCH_SCALE ?? 1) !== 1) return;
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
  };
  mkdirSync(resultsDirectory, { recursive: true });
  const results = { ratios, goals, absolute, machine, ...(shape && { shape }), ...(rows && { rows }) };
  writeFileSync(join(resultsDirectory, `${name}.json`), `${JSON.stringify(results, null, 2)}\n`);
}
