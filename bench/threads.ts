import { join } from "node:path";
import { goal, report } from "./report/report";
import { startChild } from "./service/child";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shapes = {
  movies: { users: 6040, items: 3700, events: Math.round(1_000_000 * scale) },
  music: { users: 1900, items: 17_000, events: Math.round(74_000 * scale) },
};
const rounds = 3;

/** The fastest of several alternating trainings of each kind, in seconds. */
interface Seconds {
  one: number;
  two: number;
  /** The slower of two processes that train at the same time, each with one thread. */
  apart: number;
}

async function main(): Promise<void> {
  const [movies, music] = [await measure(shapes.movies), await measure(shapes.music)];
  report("threads", {
    ratios: { movies: ratiosOf(movies), music: ratiosOf(music) },
    goals: [
      goal("training of the MovieLens-1M shape on two threads (s)", "≤", 20, movies.two),
      goal("training of the music shape on two threads (s)", "≤", 15, music.two),
      // The upper bound for two threads is the gain of two independent trainings on two cores.
      goal("gain of a second thread / gain of a second process", "≥", 0.85, ratiosOf(movies).overApart),
      goal("gain of a second thread", "≥", 1.7, ratiosOf(movies).gain),
    ],
    absolute: { movies, music },
    shape: shapes,
  });
}

function ratiosOf({ one, two, apart }: Seconds) {
  const [gain, gainApart] = [one / two, (2 * one) / apart];
  return { gain, gainApart, overApart: gain / gainApart };
}

async function measure(shape: (typeof shapes)["movies"]): Promise<Seconds> {
  const start = (threads: number) =>
    startChild<string>(join(__dirname, "threads", "train.ts"), JSON.stringify(shape), String(threads));
  const [first, second, double] = [await start(1), await start(1), await start(2)];
  const least: Seconds = { one: Infinity, two: Infinity, apart: Infinity };
  const note = (way: keyof Seconds, seconds: number) => {
    least[way] = Math.min(least[way], seconds);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      note("one", await first.ask<number>());
      note("two", await double.ask<number>());
      note("apart", Math.max(...(await Promise.all([first.ask<number>(), second.ask<number>()]))));
    }
  } finally {
    for (const child of [first, second, double]) child.kill();
  }
  return least;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
