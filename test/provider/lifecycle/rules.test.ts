import * as recommender from "../../../provider";
import { stub } from "../../../provider/dynamic/stub";
import { reply, scriptedServer } from "../../client/server";
import { DynamicProvider, unknownValue } from "../dynamic-provider";
import { clustering, dataset, deployment, type Properties, project, query, records, rules } from "./rules";

const types = Object.keys(rules);
let provider: DynamicProvider;

// A service that only reports its extensions. Everything else that these tests need is in the arguments.
let service: Awaited<ReturnType<typeof scriptedServer>>;
beforeAll(async () => {
  service = await scriptedServer(
    reply(200, { extensions: ["/submit-deployment-job#rules", "/submit-recommendation-job"] }),
  );
  provider = await DynamicProvider.start({
    "recommender:baseUrl": service.url,
    "recommender:apiKey": "k",
    "recommender:accessToken": "t",
  });
});
afterAll(async () => {
  await provider.stop();
  await service.close();
});
beforeEach(() => {
  provider.messages.length = 0;
});

test("every resource of the package is in the table, with every argument", () => {
  const resources = Object.entries(recommender).filter(([, value]) => "lifecycle" in value);
  expect(types.sort()).toEqual(resources.map(([name]) => name).sort());
  for (const [type, resource] of resources) {
    const { argumentNames } = (resource as unknown as { lifecycle: { argumentNames: string[] } }).lifecycle;
    expect({ type, named: Object.keys(rules[type].others).sort() }).toEqual({
      type,
      named: [...argumentNames].sort(),
    });
  }
});

describe.each(types)("%s", (type) => {
  const { args, others } = rules[type];

  test("is unchanged if no argument changed", async () => {
    expect(await provider.check(type, args)).toMatchObject({ failures: [] });
    expect(await provider.diff(type, "id", args, args)).toEqual({ changes: false, replaces: [] });
    expect(provider.messages).toEqual([]);
  });

  test.each(Object.entries(others))("a new %s: %j", async (key, [value, rule]) => {
    const { [key]: _, ...rest } = args;
    const news = value === undefined ? rest : { ...rest, [key]: value };
    expect(await provider.diff(type, "id", args, news)).toEqual({
      changes: rule !== "no change",
      replaces: rule === "replaced" ? [key] : [],
    });
  });

  test("accepts unknown arguments", async () => {
    const unknowns = Object.fromEntries(Object.keys(args).map((key) => [key, unknownValue]));
    expect(await provider.check(type, unknowns)).toMatchObject({ failures: [], inputs: unknowns });
  });

  test("rejects an unknown argument by name", async () => {
    const { failures } = await provider.check(type, { ...args, nmae: "x" });
    expect(failures).toEqual([expect.stringMatching(/^nmae is unknown(; did you mean name\?)?$/)]);
  });

  test("is stored as a stub of at most 200 bytes, the same for all resources of its type", () => {
    expect(Buffer.byteLength(stub(type))).toBeLessThanOrEqual(200);
  });
});

describe("a preview rejects invalid arguments with path and rule", () => {
  test.each<[string, Properties, string[]]>([
    [
      "EventDataset",
      { ...dataset, attributeSchema: { age: "NUMBER", country: unknownValue } },
      ["attributeSchema.age: expected NUMERICAL or CATEGORICAL"],
    ],
    ["EventDataset", { ...dataset, numShards: 0 }, ["numShards: expected a whole number of at least 1"]],
    ["UserDataset", { ...dataset, numShards: "ten" }, ["numShards: expected a number"]],
    ["UserDataset", { ...dataset, name: " " }, ["name: expected more than white space"]],
    [
      "Project",
      { ...project, name: "a\nb" },
      ["name: expected text on one line, without control characters"],
    ],
    [
      "ItemDataset",
      { ...dataset, attributeSchema: { "": "NUMERICAL" } },
      ["attributeSchema.: expected a name, received empty text"],
    ],
    [
      "UserQuery",
      {
        ...query,
        submittedJobId: "j",
        queries: [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.5, upperBound: 0.1 }] }],
      },
      ["queries[0].conditions[0].lowerBound: the lower bound 0.5 is above the upper bound 0.1"],
    ],
    ["Project", { ...project, projectType: "OTHER" }, ["projectType: expected RECOMMEND_ITEMS_TO_USER"]],
    ["Algorithm", { projectId: "p", name: "n", algorithmType: "G2" }, ["algorithmType: expected G1"]],
    ["DeploymentJob", { ...deployment, qps: 0.5 }, ["qps: expected a whole number"]],
    [
      "Deployment",
      { ...deployment, submittedJobId: "j", check: { userIds: [] } },
      ["check.userIds: expected at least 1 entry"],
    ],
    [
      "UserQuery",
      { ...query, submittedJobId: "j", queries: [{ attribute: "genre", value: "jazz" }] },
      [
        "queries[0].conditions: missing; expected a list",
        "queries[0]: attribute is unknown; value is unknown",
      ],
    ],
    [
      "QueryingJob",
      { ...query, queries: [{ conditions: [{ attribute: "genre", lower_bond: 0.5 }], bins: 3 }] },
      [
        "queries[0].conditions[0].value: missing; expected text, a number or true or false",
        "queries[0].conditions[0]: lower_bond is unknown; did you mean lowerBound?",
        "queries[0]: bins is unknown",
      ],
    ],
    [
      "EventRecords",
      { ...records, eventDatasetId: "e", format: "xls", mapping: { user: "u", ts: 5 }, maxFailures: -1 },
      [
        "format: expected one of ndjson, json, csv, parquet",
        "mapping.ts: expected the name of a column, or { value: … } for all records",
        "mapping: user is unknown; did you mean userId?",
        "maxFailures: expected a whole number of at least 0",
      ],
    ],
    [
      "ClusteringJob",
      { ...clustering, parameters: { minUserNum: 0 } },
      ["parameters.minUserNum: expected a whole number of at least 1"],
    ],
    [
      "RecommendationJob",
      { projectId: "p", name: "n", userIds: ["u"], query: { conditions: [{ attribute: "a", value: 1 }] } },
      ["query: expected a list of users or a query, not both"],
    ],
  ])("%s %j", async (type, args, expected) => {
    expect((await provider.check(type, args)).failures).toEqual(expected);
  });
});

describe("limits that the specification does not set", () => {
  const usage = { attribute: "genre", value: "jazz", lowerBound: 20, upperBound: 60 };
  const cases: [string, Properties, string[]][] = [
    [
      "Algorithm",
      { projectId: "p", name: "n", algorithmParameters: { dimensions: "many", epoch: 1 } },
      [
        "algorithmParameters.dimensions: expected a number",
        "algorithmParameters: epoch is unknown; did you mean epochs?",
      ],
    ],
    [
      "QueryingJob",
      { ...query, queries: [{ conditions: [usage] }] },
      ["lowerBound", "upperBound"].map(
        (bound) =>
          `queries[0].conditions[0].${bound}: usage is a share between 0 and 1, not a percentage: 0.2 means 20 %`,
      ),
    ],
    [
      "UserDataset",
      { ...dataset, numShards: 20_000 },
      ["numShards: expected a whole number of at most 10,000"],
    ],
    [
      "Project",
      { ...project, targetEventType: "t".repeat(300) },
      ["targetEventType: expected at most 256 characters"],
    ],
    ["DeploymentJob", { ...deployment, qps: 1e12 }, ["qps: expected a whole number of at most 1,000,000"]],
    [
      "UserQuery",
      {
        ...query,
        submittedJobId: "j",
        queries: Array(150).fill({ conditions: [{ attribute: "genre", value: "jazz" }] }),
      },
      ["queries: expected at most 100 entries"],
    ],
    [
      "Deployment",
      { ...deployment, submittedJobId: "j", check: { userIds: ["u"], minResults: 2000 } },
      ["check.minResults: expected a whole number of at most 1,000"],
    ],
  ];

  test.each(cases)(
    "%s is checked at preview where the embedded service is meant",
    async (type, args, all) => {
      const embedded = await DynamicProvider.start({ "recommender:baseUrl": "embedded:data" });
      const { failures } = await embedded.check(type, args).finally(() => embedded.stop());
      expect(failures).toEqual(all);
    },
  );

  test.each(cases)("%s is accepted for other services", async (type, args) => {
    expect(await provider.check(type, args)).toMatchObject({ inputs: args, failures: [] });
  });

  test("are still checked for their type", async () => {
    const args = { projectId: "p", name: "n", algorithmParameters: "many" };
    expect((await provider.check("Algorithm", args)).failures).toEqual([
      "algorithmParameters: expected an object",
    ]);
  });

  test("do not lift the limits of the provider", async () => {
    const args = { ...records, eventDatasetId: "e", parallel: 1000 };
    expect((await provider.check("EventRecords", args)).failures).toEqual([
      "parallel: expected a whole number of at most 64",
    ]);
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
