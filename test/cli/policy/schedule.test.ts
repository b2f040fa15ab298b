import { parsePolicy } from "../../../cli/policy/file";
import { stageOf } from "../../../cli/policy/gates";
import { freezesAt, isInWindow, nextStart, type StagePolicy } from "../../../cli/policy/schedule";

const stageWith = (stage: object): StagePolicy =>
  stageOf(
    parsePolicy(JSON.stringify({ promotion: { stages: { prod: stage } } }), "recommender.yaml"),
    "prod",
  );
const windowed = (window: object) => stageWith({ windows: [{ timeZone: "UTC", ...window }] });
const isOpen = (stage: StagePolicy, time: string) =>
  (stage.windows ?? []).some((window) => isInWindow(window, Date.parse(time)));
const next = (stage: StagePolicy, time: string) => {
  const at = nextStart(stage, Date.parse(time));
  return at === undefined ? undefined : new Date(at).toISOString();
};

describe("a window", () => {
  const office = windowed({ days: ["mon", "tue"], from: "09:00", to: "16:00", timeZone: "Europe/Berlin" });

  test.each([
    // 2026-01-05 is a Monday. Berlin is one hour ahead in winter and two in summer.
    ["2026-01-05T07:59:59Z", false],
    ["2026-01-05T08:00:00Z", true],
    ["2026-01-05T14:59:59Z", true],
    ["2026-01-05T15:00:00Z", false],
    ["2026-07-06T07:00:00Z", true],
    ["2026-07-06T14:00:00Z", false],
    ["2026-01-07T10:00:00Z", false],
  ])("with days and a time zone at %s: %s", (time, expected) => {
    expect(isOpen(office, time)).toBe(expected);
  });

  test.each([
    ["2026-01-06T01:00:00Z", true],
    ["2026-01-06T02:00:00Z", false],
    ["2026-01-05T01:00:00Z", false],
    ["2026-01-05T22:00:00Z", true],
  ])("over midnight belongs to the day on which it begins: %s, %s", (time, expected) => {
    expect(isOpen(windowed({ days: ["mon"], from: "22:00", to: "02:00" }), time)).toBe(expected);
  });

  test("until 24:00 includes the last minute of the day", () => {
    expect(isOpen(windowed({ from: "12:00", to: "24:00" }), "2026-01-05T23:59:59Z")).toBe(true);
  });

  test("uses the offset of each day when clocks change", () => {
    const early = windowed({ days: ["sun"], from: "02:30", to: "03:30", timeZone: "Europe/Berlin" });
    // On 2026-03-29, Berlin skips from 02:00 to 03:00. On 2026-10-25 it repeats 02:00 to 03:00.
    expect(next(early, "2026-03-28T00:00:00Z")).toBe("2026-03-29T01:00:00.000Z");
    expect(next(early, "2026-10-24T00:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
  });

  test("opens next at its first minute", () => {
    expect(next(office, "2026-01-06T16:20:30Z")).toBe("2026-01-12T08:00:00.000Z");
    expect(next(office, "2026-01-05T10:00:00.500Z")).toBe("2026-01-05T10:00:00.500Z");
  });
});

describe("a freeze", () => {
  const freeze = (from: string, to: string, timeZone = "UTC") => ({ from, to, timeZone, reason: "holidays" });
  const frozen = (stage: StagePolicy, time: string) => freezesAt(stage.freezes, Date.parse(time)).length > 0;

  test("with dates includes the whole last day, in its time zone", () => {
    const stage = stageWith({ freezes: [freeze("2026-12-18", "2027-01-03", "America/New_York")] });
    expect(frozen(stage, "2026-12-18T04:59:59Z")).toBe(false);
    expect(frozen(stage, "2026-12-18T05:00:00Z")).toBe(true);
    expect(frozen(stage, "2027-01-04T04:59:59Z")).toBe(true);
    expect(frozen(stage, "2027-01-04T05:00:00Z")).toBe(false);
    expect(next(stage, "2026-12-20T00:00:00Z")).toBe("2027-01-04T05:00:00.000Z");
  });

  test("with times ends at its time", () => {
    const stage = stageWith({ freezes: [freeze("2026-12-18T17:00", "2026-12-18T19:30", "Asia/Kolkata")] });
    expect(next(stage, "2026-12-18T12:00:00Z")).toBe("2026-12-18T14:00:00.000Z");
    expect(frozen(stage, "2026-12-18T11:29:59Z")).toBe(false);
  });

  test("delays the next start to the first window after it", () => {
    const stage = stageWith({
      windows: [{ days: ["mon"], from: "09:00", to: "10:00", timeZone: "UTC" }],
      freezes: [freeze("2026-01-05", "2026-01-05"), freeze("2026-01-11", "2026-01-13")],
    });
    expect(next(stage, "2026-01-05T09:30:00Z")).toBe("2026-01-19T09:00:00.000Z");
  });
});

test.each([
  [
    { windows: [{ from: "9:00", to: "10:00", timeZone: "UTC" }] },
    /windows\[0\]\.from: expected a time of day/,
  ],
  [{ windows: [{ from: "09:00", to: "10:00", timeZone: "Mars" }] }, /timeZone: expected an IANA time zone/],
  [{ windows: [{ from: "09:00", to: "09:00", timeZone: "UTC" }] }, /to: expected another time than from/],
  [
    { freezes: [{ from: "2026-02-30", to: "2026-03-01", timeZone: "UTC", reason: "x" }] },
    /from: expected a date/,
  ],
  [
    { freezes: [{ from: "2026-03-02", to: "2026-03-01", timeZone: "UTC", reason: "x" }] },
    /to: expected a time after/,
  ],
  [{ soak: "24" }, /prod\.soak: expected a duration with a unit/],
  [{ soak: "0h" }, /prod\.soak: expected a duration with a unit/],
  [{ minQuality: 2 }, /prod\.minQuality: expected/],
  [
    { approvals: { required: 0, source: "environment" } },
    /approvals\.required: expected a number of at least 1/,
  ],
  [{ soka: "1h" }, /prod: soka is unknown/],
])("the policy of a stage is rejected: %j", (stage, message) => {
  expect(() => stageWith(stage)).toThrow(message);
});

test("stages outside of the order are rejected", () => {
  const text = "promotion:\n  order: [dev, prod]\n  stages:\n    porod:\n      soak: 1h\n";
  expect(() => parsePolicy(text, "recommender.yaml")).toThrow(
    /^recommender\.yaml:4: promotion\.stages\.porod: is not in promotion\.order$/,
  );
});
