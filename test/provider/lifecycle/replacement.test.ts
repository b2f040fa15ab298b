import { DynamicProvider, unknownValue } from "../dynamic-provider";
import { dataset, type Properties, rules } from "./rules";

let provider: DynamicProvider;

const nowhere = {
  "recommender:baseUrl": "http://127.0.0.1:9",
  "recommender:apiKey": "k",
  "recommender:accessToken": "t",
};

beforeAll(async () => {
  provider = await DynamicProvider.start(nowhere);
});
afterAll(() => provider.stop());
beforeEach(() => {
  provider.messages.length = 0;
});

describe("a preview warns about the consequences of a replacement", () => {
  test.each<[string, Properties, RegExp]>([
    [
      "EventDataset",
      { numShards: 20 },
      /Replacing EventDataset n deletes its events, unless retainOnDelete is set: numShards 10 → 20\./,
    ],
    ["UserDataset", { name: "o" }, /Replacing UserDataset o: name \(changed\)\. .*so it is orphaned/],
    ["Project", { targetEventType: "click" }, /orphaned.*which trains again/],
    ["Project", { userDatasetId: unknownValue }, /Replacing Project n: userDatasetId \(changed\)\./],
    ["TrainingJob", { triggers: ["x"] }, /this trains again, because of triggers\[0\] \(changed\)\.$/],
    [
      "TrainingJob",
      { triggers: ["2026-W46", `sha256:${"a1".repeat(32)}`] },
      /because of triggers\[1\] \(added\)\.$/,
    ],
  ])("%s %j", async (type, change, message) => {
    const { args } = rules[type];
    await provider.diff(type, "id", args, { ...args, ...change });
    expect(provider.messages).toMatchObject([
      { severity: "warning", message: expect.stringMatching(message) },
    ]);
    expect(provider.messages[0].urn).toContain(`recommender:${type}::`);
  });
});

describe("a replacement that the engine forces", () => {
  const asked = "requested by --replace, replaceOnChanges, replacementTrigger or replaceWith";

  test.each<[string, string | undefined]>([
    ["EventDataset", `Replacing EventDataset n deletes its events, unless retainOnDelete is set: ${asked}.`],
    [
      "UserDataset",
      `Replacing UserDataset n: ${asked}. The API cannot change or delete the old object, so it is orphaned`,
    ],
    [
      "Project",
      `Replacing Project n: ${asked}. The API cannot change or delete the old object, so it is orphaned`,
    ],
    ["TrainingJob", `Model n: this trains again, because ${asked}.`],
    ["Deployment", undefined],
  ])("of a %s shows in the preview what is lost", async (type, words) => {
    const own = await DynamicProvider.start(nowhere);
    const { args } = rules[type];
    // The engine checks each resource, and checks a replaced resource again as if it were new.
    await own.check(type, args, args);
    expect(own.messages).toEqual([]);
    await own.check(type, args);
    await own.check(type, args);
    await own.stop();
    expect(own.messages.map(({ message }) => message)).toEqual(words ? [expect.stringContaining(words)] : []);
  });

  test("is not reported if the diff has decided it", async () => {
    const own = await DynamicProvider.start(nowhere);
    const news = { ...dataset, numShards: 20 };
    await own.check("EventDataset", news, dataset);
    await own.diff("EventDataset", "id", dataset, news);
    await own.check("EventDataset", news);
    await own.stop();
    expect(own.messages.map(({ message }) => message)).toEqual([
      expect.stringContaining("numShards 10 → 20"),
    ]);
  });
});

describe("the option replaceOnChanges", () => {
  const schema = (value: string) => ({ ...dataset, attributeSchema: { "a.b": value, "c[0]": "NUMERICAL" } });

  test.each([
    ['attributeSchema["a.b"]', true],
    ['attributeSchema["a\\.b"]', true],
    ["attributeSchema.*", true],
    ['["attributeSchema"]["a.b"]', true],
    ["attributeSchema.a.b", false],
    ['attributeSchema["c[0]"]', false],
  ])("with the path %s replaces if that key differs", async (path, isReplaced) => {
    const news = { ...schema("CATEGORICAL"), __replaceOn: [path] };
    expect(await provider.diff("EventDataset", "id", schema("NUMERICAL"), news)).toEqual({
      changes: true,
      replaces: isReplaced ? ["attributeSchema"] : [],
    });
  });
});

test("an unknown existingId replaces nothing in a preview, which warns about it", async () => {
  const news = { ...dataset, existingId: unknownValue };
  expect(await provider.diff("EventDataset", "d7", dataset, news)).toEqual({ changes: true, replaces: [] });
  expect(provider.messages.map(({ message }) => message)).toEqual([
    "existingId is not known yet. If it is not d7, d7 is replaced and then deleted or orphaned.",
  ]);
});

test("an adopted id is no change, and neither is removing existingId afterwards", async () => {
  const adopted = { ...dataset, existingId: "d7" };
  expect(await provider.diff("EventDataset", "d7", dataset, adopted)).toMatchObject({ changes: false });
  expect(await provider.diff("EventDataset", "d7", adopted, dataset)).toMatchObject({ changes: false });
});
