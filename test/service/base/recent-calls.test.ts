import { RecentCalls } from "../../../service/base/recent-calls";

test("evicts the project that was not called for longest", () => {
  const calls = new RecentCalls(() => 0);
  for (let at = 0; at < 1000; at++) calls.count(`p${at}`, 200, 1);
  calls.count("p0", 200, 1);
  calls.count("new", 429, 1);
  expect(["p0", "p1", "p2", "new"].map((key) => calls.of([key]).answered)).toEqual([2, 0, 1, 0]);
  expect(calls.of(["new"]).refused).toBe(1);
});

test("rejected calls evict nothing", () => {
  const calls = new RecentCalls(() => 0);
  calls.count("shop", 200, 1);
  for (let at = 0; at < 5000; at++)
    for (const status of [400, 401, 404, 409]) calls.count(`p${at}`, status, 1);
  expect(calls.of(["shop"]).answered).toBe(1);
});
