import * as recommender from "../../provider";
import { stub } from "../../provider/resource";
import { DynamicProvider, unknownValue } from "./dynamic-provider";

type Properties = Record<string, unknown>;
type Rule = "in place" | "replaced" | "no change";

const dataset = { name: "n", numShards: 10, attributeSchema: { age: "NUMERICAL" } };
const project = {
  name: "n",
  projectType: "RECOMMEND_ITEMS_TO_USER",
  userDatasetId: "u",
  itemDatasetId: "i",
  eventDatasetId: "e",
  targetEventType: "purchase",
};
const deployment = { name: "n", projectId: "p", generatorModelId: "m", rankerModelId: "r", qps: 1 };
const query = { name: "n", projectId: "p", modelId: "m", queryType: "user_list" };
const conditions = [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.1 }] }];
const clustering = {
  name: "n",
  projectId: "p",
  modelId: "m",
  clusterType: "user",
  parameters: { minUserNum: 5 },
};
const records = {
  source: "records.csv",
  contentHash: "sha256:1",
  format: "csv",
  mapping: {},
  maxFailures: 0,
};
const otherRecords: Record<string, [unknown, Rule]> = {
  source: ["moved.csv", "no change"],
  contentHash: ["sha256:2", "in place"],
  format: [undefined, "in place"],
  mapping: [{ attributes: ["age"] }, "in place"],
  maxFailures: [5, "no change"],
  parallel: [2, "no change"],
  numShards: [20, "no change"],
  rejectsFile: ["rejects.ndjson", "no change"],
};

/** Every resource with an example of its arguments, and for every argument another value and what it leads to. */
const rules: Record<string, { args: Properties; others: Record<string, [unknown, Rule]> }> = {
  UserDataset: {
    args: dataset,
    others: {
      name: ["o", "replaced"],
      numShards: [11, "replaced"],
      attributeSchema: [{ age: "CATEGORICAL" }, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  ItemDataset: {
    args: dataset,
    others: {
      name: ["o", "replaced"],
      numShards: [11, "replaced"],
      attributeSchema: [null, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  EventDataset: {
    args: dataset,
    others: {
      name: ["o", "in place"],
      numShards: [11, "replaced"],
      attributeSchema: [null, "in place"],
      existingId: ["another", "replaced"],
    },
  },
  UserRecords: {
    args: { ...records, userDatasetId: "u" },
    others: { ...otherRecords, userDatasetId: ["o", "replaced"] },
  },
  ItemRecords: {
    args: { ...records, itemDatasetId: "i" },
    others: { ...otherRecords, itemDatasetId: ["o", "replaced"] },
  },
  EventRecords: {
    args: { ...records, eventDatasetId: "e" },
    others: { ...otherRecords, eventDatasetId: ["o", "replaced"] },
  },
  Project: {
    args: project,
    others: {
      name: ["o", "replaced"],
      projectType: ["OTHER", "replaced"],
      userDatasetId: ["o", "replaced"],
      itemDatasetId: ["o", "replaced"],
      eventDatasetId: ["o", "replaced"],
      targetEventType: ["click", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  Algorithm: {
    args: { name: "n", projectId: "p", algorithmType: "G1", algorithmParameters: { dimensions: 32 } },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      algorithmType: ["G2", "replaced"],
      algorithmParameters: [{}, "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  TrainingJob: {
    args: { name: "n", projectId: "p", algorithmId: "a", triggers: ["2026-W46"] },
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      algorithmId: ["o", "replaced"],
      triggers: [["2026-W47"], "replaced"],
    },
  },
  Model: {
    args: { name: "n", projectId: "p", algorithmId: "a", submittedJobId: "j" },
    others: {
      name: ["o", "in place"],
      projectId: ["o", "replaced"],
      algorithmId: ["o", "no change"],
      submittedJobId: ["o", "replaced"],
      existingId: ["another", "replaced"],
    },
  },
  DeploymentJob: {
    args: deployment,
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      generatorModelId: ["o", "in place"],
      rankerModelId: [undefined, "in place"],
      qps: [2, "in place"],
    },
  },
  Deployment: {
    args: { ...deployment, submittedJobId: "j", check: { userIds: ["u"], minResults: 1 }, rollback: false },
    others: {
      name: ["o", "no change"],
      projectId: ["o", "replaced"],
      generatorModelId: ["o", "in place"],
      rankerModelId: [undefined, "in place"],
      qps: [2, "in place"],
      submittedJobId: ["o", "in place"],
      check: [{ userIds: ["v"], minResults: 1 }, "in place"],
      rollback: [true, "in place"],
      existingId: ["another", "replaced"],
    },
  },
  QueryingJob: {
    args: { ...query, queries: conditions },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      queryType: ["user_distribution", "replaced"],
      queries: [[{ conditions: [{ attribute: "genre", value: "folk" }] }], "replaced"],
    },
  },
  UserQuery: {
    args: { ...query, queries: conditions, submittedJobId: "j" },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      queryType: ["user_distribution", "replaced"],
      queries: [[{ conditions: [{ attribute: "genre", value: "folk" }] }], "replaced"],
      submittedJobId: ["o", "replaced"],
    },
  },
  ClusteringJob: {
    args: clustering,
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      clusterType: ["item", "replaced"],
      parameters: [{ minUserNum: 6 }, "replaced"],
    },
  },
  UserClustering: {
    args: { ...clustering, submittedJobId: "j" },
    others: {
      name: ["o", "replaced"],
      projectId: ["o", "replaced"],
      modelId: ["o", "replaced"],
      clusterType: ["item", "replaced"],
      parameters: [{ minUserNum: 6 }, "replaced"],
      submittedJobId: ["o", "replaced"],
    },
  },
};

const types = Object.keys(rules);
let provider: DynamicProvider;

beforeAll(async () => {
  const nowhere = { "recommender:baseUrl": "http://127.0.0.1:9", "recommender:apiKey": "k" };
  provider = await DynamicProvider.start({ ...nowhere, "recommender:accessToken": "t" });
});
afterAll(() => provider.stop());
beforeEach(() => {
  provider.said.length = 0;
});

test("every resource of the package is in the table, with every argument", () => {
  const resources = Object.entries(recommender).filter(([, value]) => "lifecycle" in value);
  expect(types.sort()).toEqual(resources.map(([name]) => name).sort());
});

describe.each(types)("%s", (type) => {
  const { args, others } = rules[type];

  test("is left alone when nothing changed", async () => {
    expect(await provider.check(type, args)).toMatchObject({ failures: [] });
    expect(await provider.diff(type, "id", args, args)).toEqual({ changes: false, replaces: [] });
    expect(provider.said).toEqual([]);
  });

  test.each(Object.entries(others))("another %s: %j", async (key, [value, rule]) => {
    const { [key]: _, ...rest } = args;
    const news = value === undefined ? rest : { ...rest, [key]: value };
    expect(await provider.diff(type, "id", args, news)).toEqual({
      changes: rule !== "no change",
      replaces: rule === "replaced" ? [key] : [],
    });
  });

  test("leaves arguments alone that are not known yet", async () => {
    const unknowns = Object.fromEntries(Object.keys(args).map((key) => [key, unknownValue]));
    expect(await provider.check(type, unknowns)).toMatchObject({ failures: [], inputs: unknowns });
  });

  test("refuses an argument that does not exist, by name", async () => {
    const { failures } = await provider.check(type, { ...args, nmae: "x" });
    expect(failures).toEqual([': Unrecognized key: "nmae"']);
  });

  test("enters the state as a stub of at most 200 bytes that is the same for all of its type", () => {
    expect(Buffer.byteLength(stub(type))).toBeLessThanOrEqual(200);
  });
});

describe("bad arguments are refused at preview with path and rule", () => {
  test.each<[string, Properties, string[]]>([
    [
      "EventDataset",
      { ...dataset, attributeSchema: { age: "NUMBER", country: unknownValue } },
      ["attributeSchema.age: expected NUMERICAL or CATEGORICAL"],
    ],
    ["EventDataset", { ...dataset, numShards: 0 }, ["numShards: Too small: expected number to be >=1"]],
    [
      "UserDataset",
      { ...dataset, numShards: "ten" },
      ["numShards: Invalid input: expected number, received string"],
    ],
    ["Project", { ...project, projectType: "OTHER" }, ["projectType: expected RECOMMEND_ITEMS_TO_USER"]],
    ["Algorithm", { projectId: "p", name: "n", algorithmType: "G2" }, ["algorithmType: expected G1"]],
    ["DeploymentJob", { ...deployment, qps: 0.5 }, ["qps: Invalid input: expected int, received number"]],
    [
      "Deployment",
      { ...deployment, check: { userIds: [] } },
      ["check.userIds: Too small: expected array to have >=1 items"],
    ],
    [
      "UserQuery",
      { ...query, submittedJobId: "j", queries: [{ attribute: "genre", value: "jazz" }] },
      [
        "queries.0.conditions: Invalid input: expected array, received undefined",
        'queries.0: Unrecognized keys: "attribute", "value"',
      ],
    ],
    [
      "EventRecords",
      { ...records, eventDatasetId: "e", format: "xls", mapping: { user: "u", ts: 5 }, maxFailures: -1 },
      [
        "format: expected one of ndjson, json, csv, parquet",
        "mapping.ts: expected the name of a column, or { value: … } for all records",
        'mapping: Unrecognized key: "user"',
        "maxFailures: Too small: expected number to be >=0",
      ],
    ],
    [
      "ClusteringJob",
      { ...clustering, parameters: { minUserNum: 0 } },
      ["parameters.minUserNum: Too small: expected number to be >=1"],
    ],
  ])("%s %j", async (type, args, expected) => {
    expect((await provider.check(type, args)).failures).toEqual(expected);
  });
});

describe("defaults are filled in", () => {
  test.each<[string, Properties, Properties]>([
    ["Deployment", { name: "n", projectId: "p", generatorModelId: "m" }, { qps: 1, rollback: false }],
    ["Algorithm", { name: "n", projectId: "p" }, { algorithmType: "G1", algorithmParameters: {} }],
    ["EventDataset", { name: "n", numShards: 1 }, { attributeSchema: null }],
    ["TrainingJob", { name: "n", projectId: "p", algorithmId: "a" }, { triggers: [] }],
  ])("%s", async (type, args, filled) => {
    expect((await provider.check(type, args)).inputs).toMatchObject({ ...args, ...filled });
  });
});

describe("a preview says in words, beside the resource, what a replacement means", () => {
  test.each<[string, Properties, RegExp]>([
    ["EventDataset", { numShards: 20 }, /Replacing EventDataset n deletes its events: 10 → 20 shards/],
    ["UserDataset", { name: "o" }, /Replacing UserDataset n: name "n" → "o"\. .*the old one is left behind/],
    ["Project", { targetEventType: "click" }, /left behind.*this trains again/],
    ["Project", { userDatasetId: unknownValue }, /userDatasetId "u" → a value not known yet/],
    ["TrainingJob", { triggers: ["x"] }, /this trains again, because of triggers \["2026-W46"\] → \["x"\]/],
  ])("%s %j", async (type, change, message) => {
    const { args } = rules[type];
    await provider.diff(type, "id", args, { ...args, ...change });
    expect(provider.said).toMatchObject([{ severity: "warning", message: expect.stringMatching(message) }]);
    expect(provider.said[0].urn).toContain(`recommender:${type}::`);
  });
});

test("an id that was taken over is no change, and neither is leaving it out afterwards", async () => {
  const adopted = { ...dataset, existingId: "d7" };
  expect(await provider.diff("EventDataset", "d7", dataset, adopted)).toMatchObject({ changes: false });
  expect(await provider.diff("EventDataset", "d7", adopted, dataset)).toMatchObject({ changes: false });
});
