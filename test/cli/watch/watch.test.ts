import type { Figures, Release, Watch } from "../../../cli/release/history";
import { duration } from "../../../cli/terminal/option-values";
import { Answers } from "../../../cli/watch/figures";
import { nextStep } from "../../../cli/watch/next-step";
import { parseCounters } from "../../../cli/watch/service-metrics";
import { findServiceViolation, findViolation } from "../../../cli/watch/violation";
import { watchPolicyOf } from "../../../cli/watch/watch";
import { Metrics } from "../../../service/base/metrics";

const limits = { maxErrors: 0.05, maxEmpty: 0.1, maxLatencyMs: 200, maxPopularityIncrease: 0.2 };
const good: Figures = { answers: 60, errors: 0, empty: 0, latencyMs: 20, popularity: 0.3 };
const watch: Watch = { state: "watching", forMs: 1000, limits, observedMs: 0, before: { live: good } };

describe("the measurements of a watch", () => {
  test("are over the newest answers, and popularity over the newest list of each user", () => {
    const answers = new Answers(2);
    const add = (userId: string, kind: "answered" | "failed", ...itemIds: string[]) =>
      answers.add({ userId, kind, latencyMs: 10, itemIds });
    add("u1", "answered", "a", "b");
    add("u1", "failed");
    expect(answers.figures).toEqual({ answers: 2, errors: 0.5, empty: 0, latencyMs: 10 });
    add("u2", "answered", "a", "c");
    add("u1", "answered");
    expect(answers.figures).toEqual({ answers: 4, errors: 0.25, empty: 0.25, latencyMs: 10, popularity: 1 });
    const many = Array.from({ length: 40 }, (_, at) => `i${at}`);
    add("u1", "answered", ...many);
    add("u2", "answered", ...many.map((id) => `${id}-other`));
    expect(answers.figures.popularity).toBe(10 / 80);
    for (let count = 0; count < 60; count++) add("u1", "answered", "a");
    expect(answers.figures).toMatchObject({ answers: 60, errors: 0, empty: 0 });
  });

  test.each<[string, Partial<Figures>, RegExp | undefined]>([
    ["nothing", {}, undefined],
    ["many errors", { errors: 0.1 }, /^10 % of the last 60 answers of live were errors, at most 5 %/],
    ["two errors, which can be chance", { answers: 20, errors: 0.1 }, undefined],
    ["errors in few answers", { answers: 9, errors: 1 }, undefined],
    ["many empty answers", { empty: 0.2 }, /were empty, at most 10 %/],
    ["a high latency", { latencyMs: 250 }, /^the 95th percentile of the latency of live is 250 ms/],
    ["a high latency of few answers", { answers: 19, latencyMs: 250 }, undefined],
    ["more popular items", { popularity: 0.51 }, /^the ten most shown items have 51 % .* compared with 30 %/],
    ["a few more popular items", { popularity: 0.5 }, undefined],
  ])("violate a limit with %s", (_, figures, expected) => {
    const found = findViolation("live", { ...good, ...figures }, watch);
    if (expected) expect(found).toMatch(expected);
    else expect(found).toBeUndefined();
  });

  test("cannot violate popularity if there are none from before", () => {
    const { before: _, ...unknown } = watch;
    expect(findViolation("live", { ...good, popularity: 1 }, unknown)).toBeUndefined();
  });

  test("include the calls of all users, if the service has a single deployment", async () => {
    const metrics = new Metrics();
    for (const status of [200, 200, 503, 400])
      metrics.calls.observe({ operation: "recommendItemsToUser", status }, 0.02);
    metrics.calls.observe({ operation: "getModel", status: 500 }, 9);
    metrics.deployments.set({ loaded: "true" }, 1);
    const counters = parseCounters(await metrics.text());
    expect(counters).toMatchObject({ deployments: 1, calls: 4, failed: 1 });
    expect(counters?.buckets.get(0.01)).toBe(0);
    expect(counters?.buckets.get(0.025)).toBe(4);
    expect(parseCounters("<html>")).toBeUndefined();
    const figures = { deployments: 1, calls: 100, errors: 0.06, minLatencyMs: 10, maxLatencyMs: 25 };
    expect(findServiceViolation(figures, limits)).toMatch(/^6 % of 100 calls to the service were errors/);
    expect(findServiceViolation({ ...figures, deployments: 2 }, limits)).toBeUndefined();
    // The percentile lies between two bounds of the service's histogram. Only the lower one proves a violation.
    const slow = { ...figures, errors: 0, minLatencyMs: 100, maxLatencyMs: 250 };
    expect(findServiceViolation(slow, limits)).toBeUndefined();
    expect(findServiceViolation({ ...slow, minLatencyMs: 250 }, limits)).toMatch(/took over 250 ms/);
  });
});

describe("a watch", () => {
  const entry = (fields: Partial<Release>): Release => ({
    id: "prod-5",
    action: "promote",
    status: "done",
    beganAt: "2026-11-19T12:00:00.000Z",
    program: { commit: null, dirty: false },
    versions: { package: "0", sdk: "0", engine: "0" },
    ...fields,
  });
  const violated = entry({ watch: { ...watch, violation: "bad" } });
  const rollback = entry({ id: "prod-6", action: "rollback", watched: "prod-5" });

  test.each<[string, Release, Release[], object]>([
    ["observes until its time is over", entry({ watch }), [], { kind: "observe" }],
    ["ends when its time is over", entry({ watch: { ...watch, observedMs: 1000 } }), [], { kind: "finish" }],
    ["rolls back after a violation", violated, [], { kind: "roll back", violation: "bad" }],
    [
      "completes a rollback that was interrupted",
      violated,
      [{ ...rollback, status: "running" }],
      { kind: "roll back", violation: "bad" },
    ],
    ["repeats a rollback that failed", violated, [{ ...rollback, status: "failed" }], { kind: "roll back" }],
    [
      "does not roll back twice",
      violated,
      [rollback],
      { kind: "finish", violation: "bad", rollback: { id: "prod-6" } },
    ],
    [
      "is not ended by the rollback of another release",
      violated,
      [{ ...rollback, watched: "prod-2" }],
      { kind: "roll back" },
    ],
  ])("%s", (_, watched, later, expected) => {
    expect(nextStep(watched, [watched, ...later])).toMatchObject(expected);
  });
});

test.each(["90s", "30m", "36h", "2d", "1500ms"])(
  "the duration %s of a command is shown as it was given",
  (text) => {
    expect(watchPolicyOf({ freezes: [] }, duration(text))?.for.text).toBe(text);
  },
);
