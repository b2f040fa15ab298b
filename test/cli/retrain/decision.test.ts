import type { Release } from "../../../cli/release/history";
import { decideRetraining, type RetrainEvidence } from "../../../cli/retrain/decision";
import type { ModelAge } from "../../../cli/retrain/model-age";

const day = 24 * 3_600_000;
const now = Date.parse("2026-11-19T12:00:00Z");
const daysAgo = (days: number) => new Date(now - days * day).toISOString();
const aged = (days: number, more: Partial<ModelAge> = {}): ModelAge => ({
  modelId: "m1",
  model: "weekly",
  deployments: ["live"],
  trainedAt: daysAgo(days),
  ...more,
});
const entry = (fields: Partial<Release>): Release => ({
  id: "prod-1",
  action: "release",
  status: "done",
  beganAt: daysAgo(1),
  program: { commit: null, dirty: false },
  versions: { package: "0", sdk: "0", engine: "0" },
  ...fields,
});
const retraining = { key: "shop:retrainedAt", value: "first", because: ["age"] };
const watched = entry({
  watch: {
    state: "watching",
    forMs: 1,
    observedMs: 0,
    limits: { maxErrors: 0, maxEmpty: 0, maxPopularityIncrease: 0 },
  },
});
const attempt = (fields: Partial<Release>) => entry({ action: "retrain", retraining, ...fields });
const decide = (more: Partial<RetrainEvidence>) =>
  decideRetraining({
    releases: [],
    ages: [aged(8)],
    limits: { maxAgeMs: 7 * day },
    key: "shop:retrainedAt",
    current: "first",
    isPinned: false,
    now,
    ...more,
  });
/** A value that depends on the live model, so two machines choose the same. */
const fresh = expect.stringMatching(/^after-[0-9a-f]{8}$/);

describe("a retraining", () => {
  test.each<[string, Partial<RetrainEvidence>, object]>([
    ["is not due while no model is stale", { ages: [aged(6)] }, { kind: "none" }],
    ["is due at the age limit", { ages: [aged(7)] }, { kind: "train", value: fresh, isRetry: false }],
    [
      "is due if one of several models is stale",
      { ages: [aged(1), aged(9, { model: "daily" })] },
      { because: ["model daily: trained 9 days ago"] },
    ],
    [
      "is due if enough events are new",
      { ages: [aged(1, { eventCount: 105, newEventCount: 5 })], limits: { maxNewShare: 0.05 } },
      { kind: "train", because: ["model weekly: 5 % more events since its training"] },
    ],
    [
      "is not due with fewer new events",
      { ages: [aged(1, { eventCount: 106, newEventCount: 5 })], limits: { maxNewShare: 0.05 } },
      { kind: "none" },
    ],
    ["without a limit is always due", { ages: [aged(0)], limits: {} }, { kind: "train", value: fresh }],
    [
      "that was interrupted goes on with its value, even if no model is stale any more",
      { ages: [aged(0)], releases: [attempt({ status: "running" })] },
      { kind: "train", value: "first", because: ["age"], resumed: { id: "prod-1" }, isRetry: true },
    ],
    [
      "does not begin while another change is unfinished",
      { releases: [entry({ action: "promote", status: "running" })] },
      { kind: "unfinished", entry: { action: "promote" } },
    ],
    [
      "with another trigger does not begin while the first is unfinished",
      { releases: [attempt({ status: "running" })], key: "shop:other" },
      { kind: "unfinished" },
    ],
    [
      "that failed is repeated with its value, which trains nothing again",
      { releases: [attempt({ status: "failed" })], isPinned: true },
      { kind: "train", value: "first", isRetry: true, endsRollback: false },
    ],
    [
      "that failed gets a new value once the attempt itself is too old",
      { releases: [attempt({ status: "failed", beganAt: daysAgo(7) })], isPinned: true },
      { kind: "train", value: fresh, isRetry: true, endsRollback: false },
    ],
    [
      "that failed gets a new value if the configuration has lost the first",
      { releases: [attempt({ status: "failed" })], current: undefined },
      { kind: "train", value: fresh, isRetry: false },
    ],
    [
      "that failed gets a new value without a limit",
      { releases: [attempt({ status: "failed" })], limits: {} },
      { kind: "train", value: fresh },
    ],
    [
      "would end a rollback of a person",
      { releases: [entry({ action: "rollback" })], isPinned: true },
      { kind: "train", endsRollback: true },
    ],
    [
      "does not begin while an earlier release is watched",
      { releases: [watched, attempt({ id: "prod-2", status: "failed" })] },
      { kind: "unfinished", entry: { id: "prod-1" } },
    ],
  ])("%s", (_, evidence, expected) => {
    expect(decide(evidence)).toMatchObject(expected);
  });

  test("gets the same trigger on two machines, and another one after each training from the same model", () => {
    const triggerOf = (more: Partial<RetrainEvidence>) => {
      const decision = decide({ limits: {}, ...more });
      return decision.kind === "train" ? decision.value : undefined;
    };
    const first = triggerOf({}) as string;
    expect(triggerOf({ now: now + day })).toBe(first);
    expect(triggerOf({ ages: [aged(8, { modelId: "m2" })] })).not.toBe(first);
    const trained = attempt({ retraining: { ...retraining, value: first } });
    expect(triggerOf({ releases: [trained] })).toBe(`${first}-2`);
    expect(triggerOf({ current: first })).toBe(`${first}-2`);
  });
});
