import fc from "fast-check";
import { type Decision, decide, type Evidence } from "../../../provider/recovery/decision";
import { type Origin, type OriginEvidence, originOf } from "../../../provider/recovery/entry-origin";

const lost: Evidence = { call: "lost", isOurs: true };
const calledNow: Evidence = { ...lost, calledNow: true };
const answered: Evidence = { call: "answered", isOurs: true, exists: true };

const rows: readonly (readonly [string, Evidence, Decision])[] = [
  ["nothing was begun", { call: "none" }, "create"],
  ["the call was answered, and its object exists", answered, "resume"],
  ["the call was answered, but its object is gone", { ...answered, exists: false }, "create"],
  ["the state holds the answer already", { ...answered, isStored: true }, "create"],
  ["the answer may be another stack's", { ...answered, isOurs: false }, "look"],
  ["the same, and the user is to be asked", { ...answered, isOurs: false, looked: true }, "ask"],
  ["the same, and the user has decided", { ...answered, isOurs: false, createAgain: true }, "create"],
  ["the user has decided", { ...lost, createAgain: true, keyHolds: true }, "create"],
  ["the service honours its key", { ...lost, keyHolds: true }, "repeat"],
  [
    "the call may be another stack's, whose key is not ours",
    { ...lost, isOurs: false, keyHolds: true },
    "look",
  ],
  ["this run has repeated it under its key", { ...calledNow, keyHolds: true }, "look"],
  ["the user has decided, and this run's own call is lost", { ...calledNow, createAgain: true }, "look"],
  ["no key proves anything", lost, "look"],
  ["no key proves anything, and the candidates are known", { ...lost, looked: true }, "ask"],
  ["this run's own call is lost, and the candidates are known", { ...calledNow, looked: true }, "ask"],
];

test.each(rows)("if %s", (_, evidence, decision) => {
  expect(decide(evidence)).toBe(decision);
});

test("a lost call leads to a second object or to an adoption only on proof or on the user's word", () => {
  const flag = fc.boolean();
  const known = fc.record({
    call: fc.constant("lost" as const),
    ...{ isOurs: flag, calledNow: flag, createAgain: flag, keyHolds: flag, looked: flag },
  });
  const isProven = ({ isOurs, keyHolds }: Evidence) => isOurs && keyHolds;
  fc.assert(
    fc.property(known, (evidence) => {
      const decision = decide(evidence);
      if (decision === "create") return evidence.createAgain && !evidence.calledNow;
      if (decision === "repeat") return isProven(evidence) && !evidence.calledNow;
      return decision === "look" || decision === "ask";
    }),
  );
});

const renamed: OriginEvidence = { isOfStack: false, stackExists: false, lineage: "same", account: "same" };
const origins: readonly (readonly [string, OriginEvidence, Origin])[] = [
  ["this stack", { isOfStack: true, account: "same" }, "ours"],
  ["this stack, with another key", { isOfStack: true, account: "unproven" }, "unproven"],
  ["a stack that is gone, of the same lineage", renamed, "ours"],
  ["the same, with another key", { ...renamed, account: "unproven" }, "unproven"],
  ["a stack that is gone, of unknown lineage", { ...renamed, lineage: "unknown" }, "unproven"],
  ["a stack that is gone, of another lineage", { ...renamed, lineage: "different" }, "another's"],
  ["a stack that exists, made from a copied configuration", { ...renamed, stackExists: true }, "another's"],
  ["a stack that may exist, of the same lineage", { ...renamed, stackExists: "unseen" }, "unproven"],
];

test.each(origins)("an entry of %s", (_, evidence, origin) => {
  expect(originOf(evidence)).toBe(origin);
});
