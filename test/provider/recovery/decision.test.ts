import fc from "fast-check";
import { type Decision, decide, type Evidence } from "../../../provider/recovery/decision";

const lost: Evidence = { call: "lost", hasBaseline: true, listIsImmediate: true };
const looked: Evidence = { ...lost, calledNow: true };

const rows: readonly (readonly [string, Evidence, Decision])[] = [
  ["nothing was begun", { call: "none" }, "create"],
  ["it was answered, and what it created is there", { call: "answered", exists: true }, "resume"],
  ["it was answered, but what it created is gone", { call: "answered", exists: false }, "create"],
  ["the user has decided", { ...lost, createAgain: true, keyHolds: true }, "create"],
  ["the service knows its key", { ...lost, keyHolds: true }, "repeat"],
  ["the service knows its key, but this run has repeated it", { ...looked, keyHolds: true }, "look"],
  ["the user has decided, and this run's own call is lost", { ...looked, createAgain: true }, "look"],
  ["nothing but a list can tell", lost, "look"],
  ["one in the list is new", { ...looked, matches: 1 }, "adopt"],
  ["one in the list may have been there before", { ...looked, hasBaseline: false, matches: 1 }, "ask"],
  ["several in the list are new", { ...looked, matches: 2 }, "ask"],
  ["nothing in the list is new, and it shows what is created at once", { ...looked, matches: 0 }, "create"],
  ["the same for the second time", { ...looked, matches: 0, isSecondTry: true }, "ask"],
  ["nothing in the list is new yet", { ...looked, listIsImmediate: false, matches: 0 }, "ask"],
  ["no list can be read", { ...looked, matches: "unseen" }, "ask"],
];

test.each(rows)("where %s", (_, evidence, decision) => {
  expect(decide(evidence)).toBe(decision);
});

test("whatever is known of a lost call, another one is created only on proof or on the user's word", () => {
  const flag = fc.boolean();
  const known = fc.record({
    call: fc.constant("lost" as const),
    ...{ calledNow: flag, createAgain: flag, keyHolds: flag, hasBaseline: flag, listIsImmediate: flag },
    isSecondTry: flag,
    matches: fc.constantFrom(0, 1, 2, "unseen" as const),
  });
  const hasReason = (evidence: Evidence) =>
    evidence.createAgain || (evidence.matches === 0 && evidence.listIsImmediate);
  fc.assert(fc.property(known, (evidence) => decide(evidence) !== "create" || hasReason(evidence) === true));
});
