import { serve } from "../process";
import { type Figures, fuzz, shownFigures } from "./fuzz";

// `npm run fuzz` sets both: many more cases, and others each time.
const cases = Number(process.env.FUZZ_CASES ?? 300);
const seed = Number(process.env.FUZZ_SEED ?? 14);

jest.setTimeout(6 * 60 * 60_000);

test("odd requests of every kind are answered quickly and never with a 5xx, and memory stays flat", async () => {
  const service = await serve("--ephemeral", "--plan-shards", "1000000");
  let figures: Figures;
  try {
    figures = await fuzz(service, cases, seed);
  } finally {
    await service.end();
  }
  if (process.env.FUZZ_CASES) process.stdout.write(`seed ${seed}\n${shownFigures(figures)}`);
  const [, half, end] = figures.rssMb;
  // Bodies of 22 MB come and go, so memory has its ups and downs; what leaks would continue growing.
  expect(end).toBeLessThan(half * 1.3 + 100);
});
