import { z } from "zod";
import { closestMatch, issuesText } from "../../contract/messages";

const schema = z.strictObject({
  numShards: z.int().min(1).max(1000),
  name: z.string().min(1).max(5).optional(),
  share: z.number().positive().optional(),
  kind: z.enum(["A", "B", "C"]).optional(),
  flag: z.boolean().optional(),
  many: z
    .array(z.strictObject({ attribute: z.string() }))
    .min(1)
    .max(2)
    .optional(),
  either: z.union([z.string(), z.strictObject({ value: z.number() })]).optional(),
  own: z.string().regex(/^a/, "expected something with an a").optional(),
});

test.each<[object, string]>([
  [{ numShards: 0 }, "numShards: expected a whole number of at least 1"],
  [{ numShards: 2000 }, "numShards: expected a whole number of at most 1,000"],
  [{ numShards: 1.5 }, "numShards: expected a whole number"],
  [{}, "numShards: missing; expected a number"],
  [{ numShards: 1, name: "" }, "name: expected text that is not empty"],
  [{ numShards: 1, name: "toolong" }, "name: expected at most 5 characters"],
  [{ numShards: 1, share: 0 }, "share: expected a number more than 0"],
  [{ numShards: 1, kind: "D" }, "kind: expected A, B or C"],
  [{ numShards: 1, flag: "yes" }, "flag: expected true or false"],
  [{ numShards: 1, many: [] }, "many: expected at least 1 entry"],
  [
    { numShards: 1, many: [{ atribute: "x", attribute: "x" }] },
    "many[0]: atribute is unknown; did you mean attribute?",
  ],
  [{ numShards: 1, either: 5 }, "either: expected text or an object"],
  [{ numShards: 1, own: "b" }, "own: expected something with an a"],
  [{ numShards: 1, numShard: 1 }, "numShard is unknown; did you mean numShards?"],
  [{ numShards: 1, elephant: 1 }, "elephant is unknown"],
])("%j: %s", (value, words) => {
  expect(issuesText(schema.safeParse(value).error?.issues ?? [], schema)).toBe(words);
});

test.each([
  ["baseurl", "baseUrl"],
  ["base_url", "baseUrl"],
  ["bsaeUrl", "baseUrl"],
  ["base", "baseUrl"],
  ["region", undefined],
  ["x".repeat(1_000_000), undefined],
])("suggests the closest known key", (word, meant) => {
  expect(closestMatch(word, ["baseUrl", "apiKey", "rollback"])).toBe(meant);
});
