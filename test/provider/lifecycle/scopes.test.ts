import type { Properties } from "../../../provider/run/state-entry";
import { type Answer, reply, scriptedServer } from "../../client/server";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider, unknownValue } from "../dynamic-provider";

const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function providerWith(config: Record<string, string>): Promise<DynamicProvider> {
  const provider = await DynamicProvider.start(config);
  ended.push(() => provider.stop());
  return provider;
}

const project = { projectId: unknownValue };
const source = [{ userId: "u1", itemId: "i1", eventType: "purchase", ts: 1 }];
const query = {
  ...project,
  modelId: unknownValue,
  queryType: "user_list",
  queries: unknownValue,
};
const clustering = { ...project, modelId: unknownValue, parameters: unknownValue };

/** Arguments of new resources in a preview, and the scopes that their creates need. */
const steps: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
  ["UserDataset", { numShards: 1 }, ["/create-user-dataset"]],
  ["ItemDataset", { numShards: 1 }, ["/create-item-dataset"]],
  ["EventDataset", { numShards: 1 }, ["/create-event-dataset"]],
  [
    "EventRecords",
    { eventDatasetId: unknownValue, source },
    ["/get-event-dataset", "/upsert-dataset-events"],
  ],
  [
    "Project",
    {
      userDatasetId: unknownValue,
      itemDatasetId: unknownValue,
      eventDatasetId: unknownValue,
      targetEventType: "purchase",
    },
    ["/create-project"],
  ],
  ["Algorithm", project, ["/create-algorithm"]],
  ["TrainingJob", { ...project, algorithmId: unknownValue }, ["/submit-training-job"]],
  [
    "Model",
    { ...project, algorithmId: unknownValue, submittedJobId: unknownValue },
    ["/get-job", "/get-model"],
  ],
  ["DeploymentJob", { ...project, generatorModelId: unknownValue, qps: 5 }, ["/submit-deployment-job"]],
  [
    "Deployment",
    {
      ...{ ...project, generatorModelId: unknownValue, submittedJobId: unknownValue, qps: 5 },
      check: { userIds: ["u1"] },
    },
    ["/get-job", "/recommend-items-to-user"],
  ],
  ["QueryingJob", query, ["/submit-querying-job"]],
  ["ClusteringJob", clustering, ["/submit-clustering-job"]],
  ["RecommendationJob", project, ["/submit-recommendation-job"]],
];

describe("a preview with credentials that lack scopes", () => {
  let observed: ObservedService;
  let provider: DynamicProvider;
  beforeAll(async () => {
    observed = await ObservedService.start();
    ended.push(() => observed.close());
    const { RECOMMENDER_CLIENT_SECRET: secret = "" } = await observed.environmentOf(
      "ci",
      "/list-event-datasets",
    );
    provider = await providerWith({
      "recommender:baseUrl": observed.service.url,
      "recommender:apiKey": secret,
      "recommender:clientId": "ci",
    });
  });

  test.each(steps)(
    "rejects a new %s, with the scopes and the command that shows them",
    async (type, args, scopes) => {
      const { failures } = await provider.check(
        type,
        type.endsWith("Records") ? args : { name: type, ...args },
      );
      const needed = `this step needs the scope${scopes.length > 1 ? "s" : ""} ${scopes.join(" and ")}, which`;
      expect(failures).toEqual([
        `${needed} the credentials lack. Run \`recommender whoami --stack test\` to see the granted scopes.`,
      ]);
      // A preview reads once which extensions the service has.
      expect(observed.calls().filter((call) => call !== "GET /healthz")).toEqual([]);
    },
  );

  test("refers to the first error if another resource needs the same scope", async () => {
    const { failures } = await provider.check("UserDataset", { name: "more", numShards: 1 });
    expect(failures).toEqual([
      "the credentials lack a scope for this step too; see the error of UserDataset UserDataset",
    ]);
  });

  test("rejects an update, and only warns that a replaced object cannot be deleted", async () => {
    const olds = { name: "events", numShards: 1, eventDatasetId: "event-dataset-1" };
    const diff = (news: object) =>
      provider.diff("EventDataset", "event-dataset-1", olds, { ...olds, ...news });
    expect(await diff({})).toMatchObject({ changes: false });
    await expect(diff({ name: "clicks" })).rejects.toThrow(/needs the scope \/update-event-dataset, which/);
    expect(await diff({ numShards: 2 })).toMatchObject({ replaces: ["numShards"] });
    const warnings = provider.messages.filter(({ severity }) => severity === "warning");
    expect(warnings.at(-1)?.message).toMatch(
      /^event-dataset-1 cannot be deleted after its replacement\. Unless retainOnDelete .*: .*\/delete-event-dataset/,
    );
  });
});

test("a comparison needs no scope of the changes that it shows, because no update follows", async () => {
  const observed = await ObservedService.start();
  ended.push(() => observed.close());
  const { RECOMMENDER_CLIENT_SECRET: secret = "" } = await observed.environmentOf("reviews", "read");
  process.env.RECOMMENDER_COMPARES_ONLY = "true";
  const provider = await providerWith({
    "recommender:baseUrl": observed.service.url,
    "recommender:apiKey": secret,
    "recommender:clientId": "reviews",
  });
  delete process.env.RECOMMENDER_COMPARES_ONLY;
  expect(await provider.check("EventDataset", { name: "events", numShards: 1 })).toMatchObject({
    failures: [],
  });
});

test("a preview rejects a check with a filter if the service does not support filters", async () => {
  const old = reply(200, { extensions: ["/get-project"] });
  const service = await scriptedServer(old);
  ended.push(() => service.close());
  const provider = await providerWith({
    "recommender:baseUrl": service.url,
    "recommender:apiKey": "key",
    "recommender:accessToken": "token",
  });
  const failuresOf = async (filterQuery?: string) => {
    const check = { userIds: ["u1"], ...(filterQuery && { filterQuery }) };
    const args = { name: "live", ...project, generatorModelId: unknownValue, submittedJobId: unknownValue };
    return (await provider.check("Deployment", { ...args, qps: 5, check })).failures;
  };
  expect(await failuresOf('item.in_stock == "yes"')).toEqual([
    `The service at ${service.url} does not support filter_query in /recommend-items-to-user, which is not part of the specification; remove filterQuery, or use a service that supports it.`,
  ]);
  expect(await failuresOf()).toEqual([]);
  expect(service.arrived.map(({ path }) => path)).toEqual(["/healthz"]);
});

test("a preview rejects rules if the service does not support them", async () => {
  const service = await scriptedServer(reply(200, { extensions: ["/get-deployment"] }));
  ended.push(() => service.close());
  const provider = await providerWith({
    "recommender:baseUrl": service.url,
    "recommender:apiKey": "key",
    "recommender:accessToken": "token",
  });
  const args = { name: "live", ...project, generatorModelId: unknownValue, qps: 5 };
  const failuresOf = async (rules?: object) =>
    (await provider.check("DeploymentJob", { ...args, ...(rules && { rules }) } as Properties)).failures;
  expect(await failuresOf({ filter: 'item.in_stock == "yes"' })).toEqual([
    `The service at ${service.url} does not support rules in /submit-deployment-job, which is not part of the specification; remove rules, or use a service that supports it.`,
  ]);
  expect(await failuresOf()).toEqual([]);
});

test("a preview rejects a recommendation job if the service does not support it, and sends nothing else", async () => {
  const service = await scriptedServer(reply(200, { extensions: ["/get-deployment"] }));
  ended.push(() => service.close());
  const provider = await providerWith({
    "recommender:baseUrl": service.url,
    "recommender:apiKey": "key",
    "recommender:accessToken": "token",
  });
  expect((await provider.check("RecommendationJob", { name: "mail", ...project })).failures).toEqual([
    `The service at ${service.url} does not support /submit-recommendation-job, which is not part of the specification; remove this resource, or use a service that supports it.`,
  ]);
  const result = { name: "mail", ...project, submittedJobId: unknownValue };
  expect((await provider.check("UserRecommendations", result)).failures).toEqual([]);
  expect(service.arrived.map(({ path }) => path)).toEqual(["/healthz"]);
});

describe("a preview requests no scope", () => {
  const serviceThat = async (...answers: Answer[]) => {
    const service = await scriptedServer(...answers);
    ended.push(() => service.close());
    return service;
  };

  test("if one access token is configured", async () => {
    const service = await serviceThat(reply(403, { message: "no" }));
    const provider = await providerWith({
      "recommender:baseUrl": service.url,
      "recommender:apiKey": "key",
      "recommender:accessToken": "token",
    });
    expect((await provider.check("EventDataset", { name: "n", numShards: 1 })).failures).toEqual([]);
    expect(service.arrived).toEqual([]);
  });

  test("twice, and an overloaded token source proves nothing", async () => {
    const service = await serviceThat(reply(503, { message: "later" }));
    const provider = await providerWith({
      "recommender:baseUrl": service.url,
      "recommender:apiKey": "key",
      "recommender:tokenUrl": `${service.url}/token`,
      "recommender:clientId": "ci",
      "recommender:clientSecret": "secret-of-ci",
    });
    expect((await provider.check("EventDataset", { name: "n", numShards: 1 })).failures).toEqual([]);
    const asked = service.arrived.length;
    expect((await provider.check("EventDataset", { name: "m", numShards: 1 })).failures).toEqual([]);
    expect(service.arrived).toHaveLength(asked);
  });
});
