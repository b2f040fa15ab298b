import { routes } from "../../../contract";
import { isSealed } from "../../../provider/run/sealed-value";
import { ObservedService } from "../../engine/observed-service";
import { trainedProject } from "../trained-project";
import type { Properties } from "./plugin-connection";
import { PluginProcess } from "./plugin-process";

let observed: ObservedService;
let plugin: PluginProcess;
let projectId: string;
let modelId: string;
beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  const trained = await trainedProject(observed);
  projectId = trained.projectId;
  [modelId] = trained.models;
  plugin = await PluginProcess.start(observed.config);
});
afterAll(async () => {
  await plugin.stop();
  await observed.close();
});

/** Imports a resource, declares the result and compares both: the next preview must be empty. */
async function importing(type: string, given: string) {
  const { id, state, inputs } = await plugin.read(type, given);
  const shown = Object.fromEntries(Object.entries(inputs).filter(([key]) => !key.startsWith("__")));
  const checked = await plugin.check(type, shown);
  expect(checked.failures).toEqual([]);
  expect(await plugin.diff(type, id, state, checked.inputs)).toEqual({
    changes: false,
    replaces: [],
    detailed: {},
  });
  return { id, state, inputs: shown };
}

const dataset = (more: Properties) =>
  observed.call(routes.createEventDataset, { name: "clicks", numShards: 2, ...more } as never);

test.each([
  ["with a schema", { attributeSchema: { age: "NUMERICAL" } }],
  ["without a schema", {}],
])("an event dataset %s is imported by its id, and deleted like any other", async (_, more) => {
  const { eventDatasetId } = await dataset(more);
  const { id, state, inputs } = await importing("EventDataset", eventDatasetId);
  expect(inputs).toEqual({ name: "clicks", numShards: 2, ...more });
  expect(state).toMatchObject({ eventDatasetId });
  await plugin.delete("EventDataset", id, state);
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  expect(eventDatasets.map((one) => one.eventDatasetId)).not.toContain(eventDatasetId);
});

test("a model is imported by its project and its id", async () => {
  const { id, state, inputs } = await importing("Model", `${projectId}/${modelId}`);
  expect(id).toBe(modelId);
  expect(inputs).toEqual({ projectId, name: expect.stringMatching(/^m[12]$/), existingId: modelId });
  expect(state).toMatchObject({ modelId, algorithmType: "G1" });
});

test("a deployment is imported by its project and the job that deployed it", async () => {
  const request = { projectId, name: "live", generatorModelId: modelId, qps: 3 };
  const { jobId } = await observed.call(routes.submitDeploymentJob, request);
  await observed.service.idle();
  const { id, inputs } = await importing("Deployment", `${projectId}/${jobId}`);
  expect(id).toBe(projectId);
  expect(inputs).toEqual({ ...request, rollback: false, existingId: projectId });
  await importing("DeploymentJob", `${projectId}/${jobId}`);
});

test("an import rejects a job that has not deployed the models", async () => {
  await observed.faults({ jobs: [{ job_type: "DEPLOYMENT", times: 4 }] });
  const request = { projectId, name: "failing", generatorModelId: modelId, qps: 3 };
  const { jobId } = await observed.call(routes.submitDeploymentJob, request);
  await observed.service.idle();
  await expect(plugin.read("Deployment", `${projectId}/${jobId}`)).rejects.toThrow(
    /has not succeeded: its status is FAILED/,
  );
});

test("a query, a clustering and recommendations are imported by project and job, and a refresh marks nothing else as secret", async () => {
  const queries = [{ conditions: [{ attribute: "genre", value: "jazz", lowerBound: 0.1 }] }];
  const asked = { projectId, modelId, name: "q", queryType: "user_list" as const, queries };
  const grouped = { projectId, modelId, name: "c", parameters: { minUserNum: 2 } };
  const query = await observed.call(routes.submitQueryingJob, asked as never);
  const clustering = await observed.call(routes.submitClusteringJob, grouped);
  await observed.service.idle();
  const found = await importing("UserQuery", `${projectId}/${query.jobId}`);
  expect(found.inputs).toEqual({ ...asked, existingId: query.jobId });
  await importing("QueryingJob", `${projectId}/${query.jobId}`);
  const groups = await importing("UserClustering", `${projectId}/${clustering.jobId}`);
  expect(groups.inputs).toEqual({ ...grouped, clusterType: "user", existingId: clustering.jobId });
  await importing("ClusteringJob", `${projectId}/${clustering.jobId}`);
  const mailing = { projectId, name: "m", modelId, userIds: ["u1", "u2"], limit: 3, filterQuery: "1 == 1" };
  const mail = await observed.call(routes.submitRecommendationJob, mailing);
  await observed.service.idle();
  const mails = await importing("UserRecommendations", `${projectId}/${mail.jobId}`);
  expect(mails.inputs).toEqual({ ...mailing, format: "ndjson", attributes: [], existingId: mail.jobId });
  await importing("RecommendationJob", `${projectId}/${mail.jobId}`);
  const all = { UserQuery: found, UserClustering: groups, UserRecommendations: mails };
  for (const [type, before] of Object.entries(all)) {
    const { id, state } = await plugin.read(type, before.id, before.state, before.inputs);
    expect(state).toMatchObject({ jobId: id, __service: observed.service.url });
    expect(isSealed(state.downloadUrl)).toBe(true);
  }
  await expect(plugin.read("UserQuery", `${projectId}/${clustering.jobId}`)).rejects.toThrow(
    /a different kind of job/,
  );
});

test("an object that does not exist is not imported, and the error about a malformed id shows the right form", async () => {
  expect((await plugin.read("EventDataset", "gone")).id).toBe("");
  expect((await plugin.read("Model", `${projectId}/gone`)).id).toBe("");
  await expect(plugin.read("Model", modelId)).rejects.toThrow(
    /Cannot import Model model-.*: its id must have the form PROJECT_ID\/MODEL_ID/,
  );
});

test.each(["Project", "Algorithm", "UserDataset", "ItemDataset"])(
  "the API cannot read a %s, so the error of an import explains how to adopt it",
  async (type) => {
    await expect(plugin.read(type, "x-1")).rejects.toThrow(
      `${type} x-1 cannot be imported: the API cannot read it. Declare it with its arguments and existingId: "x-1"; ` +
        "`pulumi up` adopts it.",
    );
  },
);

test.each(["UserRecords", "ItemRecords", "EventRecords"])(
  "the API cannot read %s, so the error of an import explains how to declare them",
  async (type) => {
    await expect(plugin.read(type, "x-1")).rejects.toThrow(
      `${type} x-1 cannot be imported: the API cannot read it. Declare the records with their source, and their ` +
        "dataset with existingId; `pulumi up` uploads them again and replaces records with the same ids.",
    );
  },
);

test("the API cannot read a training job, so the error of an import explains how to adopt its model", async () => {
  await expect(plugin.read("TrainingJob", "x-1")).rejects.toThrow(
    "TrainingJob x-1 cannot be imported: the API cannot read it. Declare its model as a Model with " +
      'existingId: "MODEL_ID"; `pulumi up` adopts it. ' +
      "Or import the model as recommender:index:Model with the id PROJECT_ID/MODEL_ID.",
  );
});

test.each([
  ["TrainedModel", "to import its model", "import recommender:index:Model"],
  ["UserQueryResult", "to import its query", "import recommender:index:UserQuery"],
])("an import of %s explains %s", async (type, _, words) => {
  await expect(plugin.read(type, "x-1")).rejects.toThrow(words);
});

test("a lookup of an object that the API cannot read fails, even with a state", async () => {
  const state = { name: "shop", targetEventType: "purchase" };
  await expect(plugin.read("Project", "x-1", state, state)).rejects.toThrow(
    'Project x-1 cannot be looked up: the API cannot read it. Declare it with its arguments and existingId: "x-1"',
  );
  expect(await plugin.read("Model", modelId, { projectId }, { projectId })).toMatchObject({ id: modelId });
});
