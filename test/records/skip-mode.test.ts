import { isInDoubt, type SkipMode, skipModeOf, type UploadHistory } from "../../records/skip-mode";

const finished = { token: "a", basis: "z", contentHash: "A" };
const open = { token: "b", basis: "a", contentHash: "B" };
/** Killed update with some content, and killed first upload. */
const update = (contentHash: string) => ({ contentHash, isFirst: false });
const first = (contentHash: string) => ({ contentHash, isFirst: true });

test.each<[string, UploadHistory, SkipMode]>([
  ["nothing is on record", { contentHash: "A" }, "nothing"],
  ["nothing is on record but a journal of this machine", { contentHash: "A", finished }, "nothing"],
  ["the finished upload is on record", { contentHash: "B", recorded: "a", finished }, "finished"],
  [
    "another source wrote to the dataset after the finished upload",
    { contentHash: "B", recorded: "a", finished, writer: "x" },
    "nothing",
  ],
  [
    "another source wrote to the dataset after the open upload",
    { contentHash: "B", recorded: "b", finished, open, writer: "x" },
    "nothing",
  ],
  [
    "the finished upload was the last to write",
    { contentHash: "B", recorded: "a", finished, writer: "a" },
    "finished",
  ],
  ["an upload of another machine is on record", { contentHash: "B", recorded: "x", finished }, "nothing"],
  ["the open upload is on record", { contentHash: "B", recorded: "b", finished, open }, "open"],
  ["the open upload is on record, for another content", { contentHash: "C", recorded: "b", open }, "nothing"],
  [
    "an upload was killed and is not recorded anywhere",
    { contentHash: "B", recorded: "a", finished, open },
    "nothing",
  ],
  [
    "the engine and this machine have recorded a killed upload of this content",
    { contentHash: "B", recorded: "a", unrecorded: [update("B")], finished, open },
    "same content",
  ],
  [
    "the upload was killed after its end, before the engine recorded it",
    { contentHash: "A", recorded: "z", unrecorded: [update("A")], finished },
    "same content",
  ],
  [
    "another machine was killed with another content",
    { contentHash: "B", recorded: "a", unrecorded: [update("C")], finished, open },
    "nothing",
  ],
  [
    "another machine was killed, and this one has only finished uploads",
    { contentHash: "C", recorded: "a", unrecorded: [update("B")], finished },
    "nothing",
  ],
  [
    "the content is secret",
    { contentHash: "B", recorded: "a", unrecorded: [update("")], finished, open },
    "nothing",
  ],
  [
    "a first upload was killed, and other uploads may have followed",
    { contentHash: "B", unrecorded: [first("B")], open: { ...open, basis: undefined } },
    "nothing",
  ],
  [
    "the open upload is recorded, and the state cannot be read",
    { contentHash: "B", recorded: "b", unrecorded: "unknown", open },
    "nothing",
  ],
])("decides which batches to skip if %s", (_, history, expected) => {
  expect(skipModeOf(history)).toBe(expected);
});

test.each<[string, Omit<UploadHistory, "contentHash">, boolean]>([
  ["no journal", { recorded: "a" }, false],
  ["a journal of the recorded upload", { recorded: "a", finished }, false],
  ["a journal from before an upload of another machine", { recorded: "x", finished, open }, false],
  [
    "an upload of this machine after the recorded one, without an end",
    { recorded: "a", finished, open },
    true,
  ],
  ["the same, with an end", { recorded: "z", finished }, true],
  ["a recorded upload without an end", { recorded: "b", finished, open }, true],
  ["a note of the engine about a killed run", { recorded: "a", unrecorded: [update("B")], finished }, true],
  ["a state that cannot be read", { recorded: "a", unrecorded: "unknown", finished }, true],
  ["an unfinished upload of an earlier version", { open: { ...open, isUnknown: true } }, true],
])("decides whether the state is in doubt with %s", (_, history, expected) => {
  expect(isInDoubt(history)).toBe(expected);
});
