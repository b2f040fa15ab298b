import { serve } from "../process";
import { type Figures, fuzz, shownFigures } from "./fuzz";

// `npm run fuzz` sets both, for more cases with a random seed.
const cases = Number(process.env.FUZZ_CASES ?? 300);
const seed = Number(process.env.FUZZ_SEED ?? 14);

jest.setTimeout(6 * 60 * 60_000);

test("unusual requests of every kind get a fast response without a 5xx, and memory does not grow", async () => {
  const service = await serve("--ephemeral", "--plan-shards", "1000000");
  let figures: Figures;
  try {
    figures = await fuzz(service, cases, seed);
  } finally {
    await service.end();
  }
  if (process.env.FUZZ_CASES) process.stdout.write(`seed ${seed}\n${shownFigures(figures)}`);
  const [, half, end] = figures.rssMb;
  // Bodies of 22 MB make memory use vary. A leak would grow steadily.
  expect(end).toBeLessThan(half * 1.3 + 100);
});
