import fc from "fast-check";
import { type CreationEvidence, type Decision, decide } from "../../../provider/recovery/decision";
import { type EntryOwner, type OwnerEvidence, ownerOfEntry } from "../../../provider/recovery/ownership";

const lost: CreationEvidence = { call: "lost", isProven: true };
const calledNow: CreationEvidence = { ...lost, sentNow: true };
const answered: CreationEvidence = { call: "acknowledged", isProven: true, exists: true };

const rows: readonly (readonly [string, CreationEvidence, Decision])[] = [
  ["nothing was begun", { call: "none" }, "create"],
  ["the call was answered, and its object exists", answered, "resume"],
  ["the call was answered, but its object is gone", { ...answered, exists: false }, "create"],
  ["the state holds the answer already", { ...answered, isStored: true }, "create"],
  ["the answer may be another stack's", { ...answered, isProven: false }, "search"],
  ["the same, and the user is to be asked", { ...answered, isProven: false, hasSearched: true }, "ask"],
  ["the same, and the user has decided", { ...answered, isProven: false, createAgain: true }, "create"],
  ["the user has decided", { ...lost, createAgain: true, keyHolds: true }, "create"],
  [
    "the user has named the created object",
    { ...lost, isNamed: true, createAgain: true, keyHolds: true },
    "adopt",
  ],
  [
    "the user has named the created object, if it is ours",
    { ...lost, isProven: false, isNamed: true },
    "adopt",
  ],
  ["the user names something else than the answer", { ...answered, isNamed: true }, "resume"],
  [
    "the user has named an object, and the call of this run is lost",
    { ...calledNow, isNamed: true },
    "search",
  ],
  ["the service honours its key", { ...lost, keyHolds: true }, "repeat"],
  [
    "the call may belong to another stack with a different key",
    { ...lost, isProven: false, keyHolds: true },
    "search",
  ],
  ["this run has repeated it under its key", { ...calledNow, keyHolds: true }, "search"],
  ["the user has decided, and this run's own call is lost", { ...calledNow, createAgain: true }, "search"],
  ["no key proves anything", lost, "search"],
  ["no key proves anything, and the candidates are known", { ...lost, hasSearched: true }, "ask"],
  ["this run's own call is lost, and the candidates are known", { ...calledNow, hasSearched: true }, "ask"],
];

test.each(rows)("if %s", (_, evidence, decision) => {
  expect(decide(evidence)).toBe(decision);
});

test("a lost call leads to a second object or to an adoption only with proof or by decision of the user", () => {
  const flag = fc.boolean();
  const known = fc.record({
    call: fc.constant("lost" as const),
    isProven: flag,
    sentNow: flag,
    isNamed: flag,
    createAgain: flag,
    keyHolds: flag,
    hasSearched: flag,
  });
  const isProven = (evidence: CreationEvidence) => evidence.isProven && evidence.keyHolds;
  fc.assert(
    fc.property(known, (evidence) => {
      const decision = decide(evidence);
      if (decision === "create") return evidence.createAgain && !evidence.sentNow;
      if (decision === "adopt") return evidence.isNamed && !evidence.sentNow;
      if (decision === "repeat") return isProven(evidence) && !evidence.sentNow;
      return decision === "search" || decision === "ask";
    }),
  );
});

const renamed: OwnerEvidence = { isOfName: false, lineage: "same", isOfOther: false, account: "same" };
const ofName: OwnerEvidence = { isOfName: true, lineage: "same", account: "same" };
const owners: readonly (readonly [string, OwnerEvidence, EntryOwner])[] = [
  ["this stack", ofName, "own"],
  ["this stack, with another key", { ...ofName, account: "unproven" }, "unproven"],
  ["this stack under a former name", renamed, "own"],
  ["the same, with another key", { ...renamed, account: "unproven" }, "unproven"],
  ["the original of this stack's state", { ...renamed, isOfOther: true }, "other"],
  ["this stack or the unreadable original of its state", { ...renamed, isOfOther: "unseen" }, "unproven"],
  ["a renamed stack that had this name", { ...ofName, lineage: "different", isOfOther: true }, "other"],
  ["a stack of this name that is gone", { ...ofName, lineage: "different", isOfOther: false }, "unproven"],
  [
    "a stack of this name, if a state cannot be read",
    { ...ofName, lineage: "different", isOfOther: "unseen" },
    "unproven",
  ],
  [
    "a stack of this name and of unknown lineage",
    { ...ofName, lineage: "unknown", isOfOther: false },
    "unproven",
  ],
  [
    "the same, if another stack holds its object",
    { ...ofName, lineage: "unknown", isOfOther: true },
    "other",
  ],
  ["another stack", { ...renamed, lineage: "different" }, "other"],
  ["a stack that is gone, of unknown lineage", { ...renamed, lineage: "unknown" }, "unproven"],
  ["a stack that exists, of unknown lineage", { ...renamed, lineage: "unknown", isOfOther: true }, "other"],
];

test.each(owners)("an entry of %s", (_, evidence, owner) => {
  expect(ownerOfEntry(evidence)).toBe(owner);
});
