import { Turns } from "../../../service/base/event-loop";

/** Blocks the event loop for a while. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("long work is spread over turns of the event loop, in the order of the calls", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const work = Array.from({ length: 8 }, (_, at) =>
    turns.run(() => {
      block(6);
      order.push(`work ${at}`);
    }),
  );
  setImmediate(() => order.push("another call"));
  await Promise.all(work);
  expect(order.filter((one) => one.startsWith("work"))).toEqual(work.map((_, at) => `work ${at}`));
  // The other call has to wait for one or two pieces of work, but not for all of them.
  expect(order.indexOf("another call")).toBeLessThan(3);
});

test("work that fails rejects only its own promise", async () => {
  const turns = new Turns();
  const failed = turns.run(() => {
    throw new Error("failed");
  });
  const done = turns.run(() => 7);
  await expect(failed).rejects.toThrow("failed");
  expect(await done).toBe(7);
});
