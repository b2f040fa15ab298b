import { Walks } from "../../../service/store/walks";
import { ManualClock } from "../manual-clock";

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Walks that continue until the test ends them, or until their signal does. */
function steps() {
  const walked: { signal: AbortSignal; end: () => void }[] = [];
  const walk = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      walked.push({ signal, end: resolve });
      signal.addEventListener("abort", () => reject(new Error("stopped")));
    });
  return { walked, walk };
}

test("a repeated call joins the walk that it repeats, and another one waits for its end", async () => {
  const walks = new Walks<void>(new ManualClock());
  const { walked, walk } = steps();
  const here = new AbortController().signal;
  const calls = [
    walks.join("1", "0:10", here, walk),
    walks.join("1", "0:10", here, walk),
    walks.join("1", "0:20", here, walk),
    walks.join("2", "0:10", here, walk),
  ];
  await settled();
  expect(walked).toHaveLength(2);
  for (const { end } of walked) end();
  await Promise.all([calls[0], calls[1], calls[3]]);
  await settled();
  expect(walked).toHaveLength(3);
  walked[2]?.end();
  await calls[2];
  expect(walked.every(({ signal }) => !signal.aborted)).toBe(true);
});

test("a walk continues for a caller that returns, and stops if none does", async () => {
  const clock = new ManualClock();
  const walks = new Walks<void>(clock);
  const { walked, walk } = steps();
  const leaving = [new AbortController(), new AbortController()] as const;
  const first = walks.join("1", "0:10", leaving[0].signal, walk);
  leaving[0].abort();
  await settled();
  clock.advance(30_000);
  const second = walks.join("1", "0:10", leaving[1].signal, walk);
  await settled();
  clock.advance(600_000);
  await settled();
  expect([walked.length, walked[0]?.signal.aborted]).toEqual([1, false]);
  leaving[1].abort();
  clock.advance(60_000);
  await expect(first).rejects.toThrow("stopped");
  await expect(second).rejects.toThrow("stopped");
  const third = walks.join("1", "0:10", new AbortController().signal, walk);
  walked[1]?.end();
  await third;
});
