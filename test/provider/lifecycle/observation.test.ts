import { join } from "node:path";
import { routes } from "../../../contract";
import { originHeader } from "../../../contract/origin";
import { contentHash, findFiles } from "../../../records/source";
import { ObservedService } from "../../engine/observed-service";
import { Bindings, bindingNames } from "../../faults/bindings";
import { fromService, htmlPage, instead, noRoute } from "../../faults/faults";
import { type Fault, FaultProxy, send } from "../../faults/proxy";
import { LocalStack } from "../../faults/runs";
import { makeWorld, type World } from "../../faults/scenes";
import { TestDirectory } from "../../records/test-directory";

const always = { times: Number.POSITIVE_INFINITY };
const directory = new TestDirectory();
const messages: string[] = [];
const bindings = new Bindings((_, message) => messages.push(message));
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;

beforeAll(async () => {
  observed = await ObservedService.start({ planShards: 100_000 });
  proxy = await FaultProxy.start(observed.service);
  const addresses = {
    "recommender:baseUrl": proxy.url,
    "recommender:tokenUrl": `${proxy.url}/oauth/token`,
  };
  stack = new LocalStack({ ...observed.config, ...addresses }, bindings);
  world = await makeWorld(observed);
});
afterAll(async () => {
  await stack.close();
  bindings.close();
  await proxy.close();
  await observed.close();
  directory.remove();
});
beforeEach(() => proxy.clear());

/** Response for the list of extensions of a service without extensions. */
const withoutExtensions = () =>
  proxy.on("GET /healthz", fromService(404, JSON.stringify({ detail: "no such page" })), always);

const datasets = () => {
  const { userDatasetId, itemDatasetId, eventDatasetId } = world;
  return { userDatasetId, itemDatasetId, eventDatasetId };
};

/** Resource types whose objects the specification can only create, with arguments. */
const written = {
  UserDataset: () => ({ numShards: 2, attributeSchema: { age: "NUMERICAL" } }),
  ItemDataset: () => ({ numShards: 2 }),
  Project: () => ({ ...datasets(), targetEventType: "purchase" }),
  Algorithm: () => ({ projectId: world.projectId, algorithmParameters: { dimensions: 4 } }),
};
const orphanTypes = {
  UserDataset: "USER_DATASET",
  ItemDataset: "ITEM_DATASET",
  Project: "PROJECT",
  Algorithm: "ALGORITHM",
} as const;
const types = Object.keys(written) as (keyof typeof written)[];

const removed = async (type: keyof typeof written, objectId: string) => {
  const ref = { objectType: orphanTypes[type], objectId };
  // The stack has recorded that it uses the object, so it also has to release it.
  const headers = { [originHeader]: "test/faults/any" };
  await observed.client.call(routes.markOrphaned, ref, { headers });
  await observed.call(routes.deleteOrphan, ref);
};

describe.each(bindingNames)("a refresh with the %s binding", (binding) => {
  test.each(types)("of a %s keeps it unchanged, and detects its deletion", async (type) => {
    const name = `${type}-${binding}`;
    await stack.begin(binding);
    const { id, state } = await stack.up(type, name, { name, ...written[type]() });
    expect(await stack.refresh(type, name)).toEqual(expect.objectContaining(withoutHidden(state)));
    await removed(type, id);
    expect(await stack.refresh(type, name)).toBeUndefined();
  });

  test.each(types)("of a %s keeps the state on a service without extensions", async (type) => {
    const name = `${type}-plain-${binding}`;
    await stack.begin(binding);
    const { id } = await stack.up(type, name, { name, ...written[type]() });
    await removed(type, id);
    withoutExtensions();
    await stack.begin(binding);
    expect(await stack.refresh(type, name)).toMatchObject({ name });
  });

  test.each(types)("of a %s is never misled by a gateway", async (type) => {
    const name = `${type}-gateway-${binding}`;
    await stack.begin(binding);
    await stack.up(type, name, { name, ...written[type]() });
    const call = `GET /get-${type.replace("Dataset", "-dataset").toLowerCase()}`;
    for (const fault of [instead(404, noRoute, { taken: false }), htmlPage(404, { taken: false })]) {
      const heal = proxy.on(call, fault, always);
      await expect(stack.refresh(type, name)).rejects.toThrow(/404/);
      heal();
    }
    expect(await stack.refresh(type, name)).toMatchObject({ name });
  });
});

/** Responds to a list with changed objects, as if it were out of date. */
const changedIn =
  (list: string, change: object): Fault =>
  async ({ response, pass }) => {
    const answer = await pass();
    const reply = JSON.parse(answer.body.toString()) as Record<string, object[]>;
    const body = { ...reply, [list]: (reply[list] ?? []).map((one) => ({ ...one, ...change })) };
    send(response, { ...answer, body: Buffer.from(JSON.stringify(body)) });
  };

describe.each(bindingNames)("with the %s binding, a refresh with a list that is out of date", (binding) => {
  test("keeps the values of an event dataset, because the dataset itself has them", async () => {
    const name = `clicks-${binding}`;
    await stack.begin(binding);
    await stack.up("EventDataset", name, { name, numShards: 1, attributeSchema: { price: "NUMERICAL" } });
    const stale = { name: "stale", attribute_schema: { old: "NUMERICAL" } };
    proxy.on("GET /list-event-datasets", changedIn("event_datasets", stale), always);
    await stack.begin(binding);
    expect(await stack.refresh("EventDataset", name)).toMatchObject({
      name,
      attributeSchema: { price: "NUMERICAL" },
    });
  });

  test("detects a change that the list and the dataset both show", async () => {
    const name = `views-${binding}`;
    await stack.begin(binding);
    const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
    const change = { eventDatasetId: id, name: "renamed", attributeSchema: null };
    await observed.call(routes.updateEventDataset, change);
    await stack.begin(binding);
    expect(await stack.refresh("EventDataset", name)).toMatchObject({ name: "renamed" });
  });
});

test("an adopted object is compared with its declaration", async () => {
  await stack.begin("dynamic");
  const { id: existingId } = await stack.up("UserDataset", "people", { name: "people", numShards: 3 });
  const adopt = (args: object) => stack.up("UserDataset", "adopted", { existingId, ...args });
  await expect(adopt({ name: "others", numShards: 2 })).rejects.toThrow(
    /the user dataset differs from the declaration and cannot be changed; declare name: .*people.*, numShards: 3/,
  );
  await expect(adopt({ name: "people", numShards: 3, existingId: "none" })).rejects.toThrow(
    /there is no such user dataset/,
  );
  expect((await adopt({ name: "people", numShards: 3 })).id).toBe(existingId);
});

describe("a refresh of records", () => {
  const declared = async (name: string, more: { rejected?: object[]; maxFailures?: number } = {}) => {
    const { userDatasetId } = await observed.call(routes.createUserDataset, { name, numShards: 1 });
    const { rejected = [], maxFailures = 0 } = more;
    const lines = [{ user_id: "u1" }, ...rejected].map((record) => `${JSON.stringify(record)}\n`);
    const source = directory.write(`${name}.ndjson`, lines.join(""));
    const hash = await contentHash(await findFiles(source), {});
    const rejectsFile = join(directory.path, "rejects.ndjson");
    await stack.begin("dynamic");
    const args = { userDatasetId, source, contentHash: hash, rejectsFile, maxFailures };
    await stack.up("UserRecords", name, args);
    return userDatasetId;
  };

  test("keeps them while their dataset contains records", async () => {
    await declared("kept");
    expect(await stack.refresh("UserRecords", "kept")).toMatchObject({ recordCount: 1 });
    expect(proxy.came).toContain("GET /count-dataset-records");
  });

  test("detects that their dataset was emptied or deleted", async () => {
    const userDatasetId = await declared("emptied");
    await observed.call(routes.deleteDatasetUser, { userDatasetId, userId: "u1" });
    expect(await stack.refresh("UserRecords", "emptied")).toBeUndefined();
    await removed("UserDataset", userDatasetId);
    expect(await stack.refresh("UserRecords", "emptied")).toBeUndefined();
  });

  test("detects that their dataset was emptied, even if more records were rejected than accepted", async () => {
    const userDatasetId = await declared("rejected", { rejected: [{ age: 1 }, { age: 2 }], maxFailures: 2 });
    expect(await stack.refresh("UserRecords", "rejected")).toMatchObject({ recordCount: 1, failedCount: 2 });
    await observed.call(routes.deleteDatasetUser, { userDatasetId, userId: "u1" });
    expect(await stack.refresh("UserRecords", "rejected")).toBeUndefined();
  });

  test("is never misled by a gateway", async () => {
    await declared("gateway");
    proxy.on("GET /count-dataset-records", instead(404, noRoute, { taken: false }), always);
    await expect(stack.refresh("UserRecords", "gateway")).rejects.toThrow(/404/);
  });
});

describe("a refresh of a deployment without a check", () => {
  const deployed = async (name: string) => {
    const { projectId, modelId } = world;
    const args = { name, projectId, generatorModelId: modelId, qps: 1000 };
    await stack.begin("dynamic");
    const { id: submittedJobId } = await stack.up("DeploymentJob", name, args);
    const program = { ...args, submittedJobId };
    await stack.up("Deployment", name, program);
    return program;
  };

  test("detects that it was shut down", async () => {
    await deployed("down");
    expect(await stack.refresh("Deployment", "down")).toMatchObject({ qps: 1000 });
    await observed.call(routes.shutdownDeployment, { projectId: world.projectId });
    expect(await stack.refresh("Deployment", "down")).toBeUndefined();
  });

  test("is never misled by a gateway, whichever of its reads fails", async () => {
    await deployed("gateway");
    for (const call of ["GET /get-deployment", "GET /get-job"]) {
      const heal = proxy.on(call, instead(404, noRoute, { taken: false }), always);
      await expect(stack.refresh("Deployment", "gateway")).rejects.toThrow(/404/);
      heal();
    }
    expect(await stack.refresh("Deployment", "gateway")).toMatchObject({ name: "gateway" });
  });

  test("detects models of another job, and the next update deploys the declared models again", async () => {
    const program = await deployed("other");
    const { projectId } = world;
    const { submittedJobId, ...request } = program;
    const { jobId } = await observed.call(routes.submitDeploymentJob, { ...request, qps: 7 });
    await observed.service.idle();
    expect(await stack.refresh("Deployment", "other")).toMatchObject({
      qps: 7,
      deploymentJobId: jobId,
      rolledBackJobId: submittedJobId,
    });
    await stack.keepRefreshed("Deployment", "other");
    const { state } = await stack.up("Deployment", "other", program);
    const live = await observed.call(routes.getDeployment, { projectId });
    expect(live).toMatchObject({ qps: 1000, jobId: state.deploymentJobId });
    expect(state.rolledBackJobId).toBeUndefined();
    expect(await stack.refresh("Deployment", "other")).toMatchObject({ qps: 1000 });
  });

  test("assumes that it is live on a service without extensions", async () => {
    await deployed("plain");
    await observed.call(routes.shutdownDeployment, { projectId: world.projectId });
    withoutExtensions();
    await stack.begin("dynamic");
    expect(await stack.refresh("Deployment", "plain")).toMatchObject({ name: "plain" });
  });
});

test("a project is read once for all of its jobs, which stay in the state even if it no longer exists", async () => {
  const { projectId } = world;
  await stack.begin("dynamic");
  const query = { queryType: "user_distribution", queries: [{ attribute: "genre", value: "jazz", bins: 2 }] };
  const names = ["asked", "asked-again"];
  for (const name of names)
    await stack.up("QueryingJob", name, { name, projectId, modelId: world.modelId, ...query });
  const refreshBoth = async () => {
    for (const name of names) expect(await stack.refresh("QueryingJob", name)).toMatchObject({ projectId });
  };
  await stack.begin("dynamic");
  proxy.clear();
  await refreshBoth();
  expect(proxy.came.filter((call) => call.startsWith("GET /get-"))).toEqual(["GET /get-project"]);
  await stack.begin("dynamic");
  const error = { code: "NOT_FOUND", message: `Project ${projectId} not found.` };
  proxy.on("GET /get-project", fromService(404, JSON.stringify({ error })), always);
  await refreshBoth();
  expect(messages.join()).toContain(`project ${projectId} and its job`);
});

/** Removes hidden properties from a state. */
function withoutHidden(state: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith("__")));
}
