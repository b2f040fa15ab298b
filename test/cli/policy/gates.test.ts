import { parsePolicy } from "../../../cli/policy/file";
import {
  allOpenAt,
  evaluateGates,
  type GateEvidence,
  qualityFloorsOf,
  stageOf,
} from "../../../cli/policy/gates";
import { liveSince } from "../../../cli/policy/promotion-gates";
import type { Contents, Release } from "../../../cli/release/history";

const policyOf = (prod: object, order?: string[]) =>
  parsePolicy(
    JSON.stringify({ promotion: { ...(order && { order }), stages: { prod } } }),
    "recommender.yaml",
  );
const contents = (modelId = "m1", ndcgAt20 = 0.5): Contents => ({
  records: [],
  algorithms: [],
  models: [{ name: "weekly", modelId, projectId: "p", quality: { ndcgAt20 } }],
  deployments: [{ name: "live", generator: { modelId, model: "weekly" }, projectId: "p", qps: 1 }],
});
const noon = Date.parse("2026-01-05T12:00:00Z");
const hour = 3_600_000;
const evidence: GateEvidence = {
  from: "staging",
  to: "prod",
  now: noon,
  serviceTime: noon + 1000,
  lastEntryAt: noon - hour,
  unfinished: undefined,
  liveSince: noon - 3 * hour,
  contents: contents(),
  approvedBy: [],
  isPolicyChanged: false,
};
const freeze = { from: "2026-01-05", to: "2026-01-06", timeZone: "UTC", reason: "inventory" };

test("without a policy, a promotion has no gates", () => {
  expect(evaluateGates(parsePolicy("", "recommender.yaml"), evidence)).toEqual([]);
  expect(evaluateGates(policyOf({ soak: "9h" }), { ...evidence, to: "staging" })).toEqual([]);
});

test("a stack is found by the last part of its name", () => {
  const gates = evaluateGates(policyOf({}, ["staging", "prod"]), {
    ...evidence,
    from: "a/staging",
    to: "a/prod",
  });
  expect(gates).toMatchObject([{ gate: "order", isOpen: true }]);
});

describe("a gate", () => {
  test.each<[string, boolean, object, Partial<GateEvidence>, RegExp]>([
    ["policy", false, {}, { isPolicyChanged: true }, /differs from its commit/],
    ["soak", true, { soak: "3h" }, {}, /staging has run the release since 2026-01-05 09:00 UTC, at least 3h/],
    ["soak", false, { soak: "4h" }, {}, /but it must run for 4h/],
    ["soak", false, { soak: "1h" }, { liveSince: undefined }, /staging has no release that could soak/],
    ["soak", false, { soak: "1h" }, { unfinished: "staging-7" }, /staging-7 of staging has not ended/],
    ["soak", false, { soak: "1h" }, { liveSince: noon + hour }, /must run for 1h/],
    ["clock", false, { soak: "1h" }, { serviceTime: noon - hour }, /differs by 60 minutes/],
    ["clock", false, { soak: "1h" }, { serviceTime: noon + hour }, /differs by 60 minutes/],
    ["clock", false, { soak: "1h" }, { serviceTime: null }, /does not report its time/],
    ["clock", false, { soak: "1h" }, { lastEntryAt: noon + hour }, /a later time than the clock/],
    ["clock", false, { soak: "1h" }, { serviceTime: undefined, lastEntryAt: noon + hour }, /later time/],
    ["freeze", false, { freezes: [freeze] }, {}, /frozen: inventory \(until 2026-01-06 UTC\)/],
    [
      "freeze",
      true,
      { freezes: [freeze] },
      { now: noon - 24 * hour, serviceTime: noon - 24 * hour },
      /no freeze/,
    ],
    [
      "window",
      true,
      { windows: [{ from: "11:00", to: "13:00", timeZone: "UTC" }] },
      {},
      /within daily 11:00/,
    ],
    ["window", false, { windows: [{ from: "13:00", to: "14:00", timeZone: "UTC" }] }, {}, /start only daily/],
    ["quality", true, { minQuality: 0.5 }, {}, /reach/],
    [
      "quality",
      false,
      { minQuality: { weekly: 0.51 } },
      {},
      /of weekly in staging is 0\.5000, 0\.51 is required/,
    ],
    ["quality", false, { minQuality: { other: 0.1 } }, {}, /of other in staging is unknown/],
    ["approvals", false, { approvals: { required: 1, source: "environment" } }, {}, /0 of 1 approvals/],
    [
      "approvals",
      false,
      { approvals: { required: 2, source: "environment" } },
      { approvedBy: ["ada", "ada"] },
      /1 of 2 approvals: ada; the pipeline lists them in RECOMMENDER_APPROVED_BY/,
    ],
    [
      "approvals",
      false,
      { approvals: { required: 1, source: "signatures", by: ["grace"] } },
      { approvedBy: ["ada"] },
      /0 of 1 approvals by grace; each is a signed commit/,
    ],
    [
      "approvals",
      true,
      { approvals: { required: 1, source: "environment", by: ["ada"] } },
      { approvedBy: ["eve", "ada"] },
      /1 of 1 approvals: ada/,
    ],
  ])("%s is open: %s for %j and %j", (name, isOpen, stage, differing, words) => {
    const gates = evaluateGates(policyOf(stage), { ...evidence, ...differing });
    expect(gates.find(({ gate }) => gate === name)).toMatchObject({
      isOpen,
      words: expect.stringMatching(words),
    });
  });

  test.each([
    ["dev", "prod", false, /only staging can be promoted to prod/],
    ["staging", "prod", true, /staging is the stage before prod/],
    ["prod", "dev", false, /dev is the first stage/],
  ])("for the order decides about %s to %s", (from, to, isOpen, words) => {
    const gates = evaluateGates(policyOf({}, ["dev", "staging", "prod"]), { ...evidence, from, to });
    expect(gates).toMatchObject([{ gate: "order", isOpen, words: expect.stringMatching(words) }]);
  });

  test("with a time tells when it opens", () => {
    const policy = policyOf({
      soak: "4h",
      windows: [{ from: "13:00", to: "14:00", timeZone: "UTC" }],
      freezes: [freeze],
    });
    const gates = evaluateGates(policy, evidence);
    expect(gates.map(({ gate, opensAt }) => [gate, opensAt])).toEqual([
      ["clock", undefined],
      ["soak", "2026-01-05T13:00:00.000Z"],
      ["window", "2026-01-05T13:00:00.000Z"],
      ["freeze", "2026-01-07T00:00:00.000Z"],
    ]);
    expect(allOpenAt(policy, gates, evidence)).toBe("2026-01-07T13:00:00.000Z");
  });

  test("that needs more than time hides when all are open", () => {
    const policy = policyOf({ soak: "4h", approvals: { required: 1, source: "environment" } });
    expect(allOpenAt(policy, evaluateGates(policy, evidence), evidence)).toBeUndefined();
  });
});

test("the required quality applies to the deployed models", () => {
  expect(qualityFloorsOf(stageOf(policyOf({ minQuality: 0.3 }), "prod"), contents())).toEqual({
    weekly: 0.3,
  });
  expect(qualityFloorsOf(stageOf(policyOf({}), "prod"), contents())).toEqual({});
});

describe("the soak time", () => {
  const entry = (day: number, more: Partial<Release>): Release => ({
    id: `staging-${day}`,
    action: "promote",
    status: "done",
    beganAt: `2026-01-0${day}T00:00:00.000Z`,
    endedAt: `2026-01-0${day}T01:00:00.000Z`,
    program: { commit: "abc", dirty: false },
    versions: { package: "0.2.0", sdk: "3", engine: "3" },
    ...more,
  });
  const since = (...releases: Release[]) => {
    const at = liveSince(
      releases,
      releases.findLast(({ status }) => status === "done"),
    );
    return at === undefined ? undefined : new Date(at).toISOString().slice(0, 10);
  };

  test("starts when the contents went live, and another release of them does not restart it", () => {
    const [old, live] = [{ contents: contents("m1") }, { contents: contents("m2") }];
    expect(since(entry(1, old), entry(2, live), entry(3, live))).toBe("2026-01-02");
    expect(since(entry(1, old), entry(2, live), entry(3, { ...old, status: "failed" }))).toBe("2026-01-02");
  });

  test("starts again if other contents were live in between", () => {
    const [one, other] = [{ contents: contents("m1") }, { contents: contents("m2") }];
    expect(since(entry(1, one), entry(2, other), entry(3, one))).toBe("2026-01-03");
    expect(since(entry(1, { status: "failed", ...one }))).toBeUndefined();
  });
});
