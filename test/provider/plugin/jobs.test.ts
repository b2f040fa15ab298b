import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../../contract";
import { lookups } from "../../../provider/lookups";
import { entriesOf } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { partialState } from "../dynamic-provider";
import { trainedProject } from "../trained-project";
import { type Properties, urnOf } from "./plugin-connection";
import { PluginProcess, secret } from "./plugin-process";

let observed: ObservedService;
let plugin: PluginProcess;
let projectId: string;
let algorithmId: string;
let modelId: string;
beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  const trained = await trainedProject(observed);
  projectId = trained.projectId;
  [modelId] = trained.models;
  ({ algorithmId } = await observed.call(routes.createAlgorithm, { projectId, name: "g1" }));
});
beforeEach(async () => {
  plugin = await PluginProcess.start(observed.config);
});
afterEach(async () => {
  await observed.releaseJobs();
  await plugin.stop();
});
afterAll(() => observed.close());

const submit = (name: string) =>
  plugin.create("TrainingJob", { name, projectId, algorithmId, triggers: [name] });
const finish = (name: string, submittedJobId: string, timeoutS?: number) =>
  plugin.create("Model", { name, projectId, algorithmId, submittedJobId }, timeoutS ? { timeoutS } : {});
const saysOf = async (jobId: string) => {
  while (!plugin.messages.some(({ message }) => message.includes(jobId))) await sleep(20);
};

test("a cancel ends the wait for a training, SIGINT ends the process, and the next run resumes the wait", async () => {
  await observed.holdJobs();
  const job = await submit("stopped");
  const model = finish("stopped", job.id).catch((error) => error);
  await saysOf(job.id);
  await plugin.cancel();
  expect((await model).message).toMatch(
    `training job ${job.id} keeps running; the next \`pulumi up\` resumes`,
  );
  expect(await plugin.stop()).toBe(0);
  await observed.releaseJobs();
  plugin = await PluginProcess.start(observed.config);
  observed.calls();
  expect((await finish("stopped", job.id)).state.trainingJobId).toBe(job.id);
  expect(observed.calls().join()).not.toContain("submit-training-job");
});

test("a cancel ends the wait for a service that does not respond", async () => {
  await observed.faults({ calls: [{ path: "/get-event-dataset", status: 503, times: 99 }] });
  const reading = plugin.read("EventDataset", "event-dataset-1", {}).catch((error) => error);
  while (!observed.calls().includes("GET /get-event-dataset")) await sleep(20);
  await plugin.cancel();
  expect((await reading).message).toMatch(/503.*not retried, because the run was cancelled/);
  expect(await plugin.stop()).toBe(0);
  plugin = await PluginProcess.start(observed.config);
});

test("a create in flight is completed despite a cancel and SIGINT", async () => {
  await observed.faults({ calls: [{ path: "/create-event-dataset", delay_ms: 1000 }] });
  const creating = plugin.create("EventDataset", { name: "late", numShards: 1 });
  while (entriesOf(urnOf("EventDataset")).length === 0) await sleep(20);
  await plugin.cancel();
  const stopped = plugin.stop();
  await expect(creating).resolves.toMatchObject({ id: expect.any(String) });
  expect(await stopped).toBe(0);
  plugin = await PluginProcess.start(observed.config);
});

test("customTimeouts limit the wait, and the error names the option", async () => {
  await observed.holdJobs();
  const job = await submit("slow");
  await expect(finish("slow", job.id, 1)).rejects.toThrow(
    /training job \S+ is still \w+ after 1 second\. .*Wait longer with the option customTimeouts\./,
  );
});

test("customTimeouts limit an update too, and the next update waits for the same job", async () => {
  const declared = (qps: number) => ({ name: "live", projectId, generatorModelId: modelId, qps });
  const job = await plugin.create("DeploymentJob", declared(50));
  const { id, state } = await plugin.create("Deployment", { ...declared(50), submittedJobId: job.id });
  await observed.holdJobs();
  const { jobId } = await plugin.update("DeploymentJob", job.id, job.state, declared(60));
  const news = { ...declared(60), submittedJobId: jobId };
  await expect(plugin.update("Deployment", id, state, news, { timeoutS: 1 })).rejects.toThrow(
    /deployment job \S+ is still \w+ after 1 second\. .*Wait longer with the option customTimeouts\./,
  );
  await observed.releaseJobs();
  observed.calls();
  const updated = await plugin.update("Deployment", id, state, news, { timeoutS: 60 });
  expect(updated).toMatchObject({ qps: 60, deploymentJobId: jobId });
  expect(observed.calls().join()).not.toContain("submit-deployment-job");
});

test("after a failed check the state keeps the deployment and its secrets, and the next update completes it", async () => {
  const declared = { name: secret("hush"), projectId, generatorModelId: modelId, qps: 50 };
  const job = await plugin.create("DeploymentJob", declared);
  const check = { userIds: ["u-1"], minResults: 20, maxLatencyMs: 0.001 };
  const news = { ...declared, check, rollback: false, submittedJobId: job.id };
  const error = await plugin.create("Deployment", news).catch((failure) => failure);
  expect(error.message).toMatch(/Deployment it: it is deployed, but the check failed/);
  const { id, state, reasons } = partialState(error);
  expect(id).toBe(projectId);
  expect(state).toMatchObject({ name: secret("hush"), checkFailed: true, deploymentJobId: job.id });
  expect(reasons.join()).toMatch(/the check failed/);
  const { check: _, ...unchecked } = news;
  expect(await plugin.diff("Deployment", id, state, unchecked)).toMatchObject({
    changes: true,
    replaces: [],
  });
  const settled = await plugin.update("Deployment", id, state, unchecked);
  expect(settled).toMatchObject({ deploymentJobId: job.id, name: secret("hush") });
  expect(settled).not.toHaveProperty("checkFailed");
});

test("every lookup returns the response of the service", async () => {
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  const events = eventDatasets.find(({ name }) => name === "events");
  const job = { name: "served", projectId, generatorModelId: modelId, qps: 70 };
  const { jobId } = await observed.call(routes.submitDeploymentJob, job);
  await observed.service.idle();
  const { models } = await observed.call(routes.listModels, { projectId });
  const model = models.find((one) => one.modelId === modelId);
  const item = { itemId: expect.stringMatching(/^i\d+$/), attributes: { genre: expect.any(String) } };
  const questions: Record<keyof typeof lookups, [args: object, answer: object]> = {
    getEventDataset: [{ eventDatasetId: events?.eventDatasetId }, { name: "events", numShards: 1 }],
    listEventDatasets: [{}, { eventDatasets: eventDatasets.map(({ name }) => ({ name })) }],
    getModel: [
      { projectId, modelId },
      { modelId, name: model?.name, algorithmType: "G1" },
    ],
    listModels: [{ projectId }, { models: models.map((one) => ({ modelId: one.modelId })) }],
    getJob: [
      { projectId, jobId },
      { jobId, jobType: "DEPLOYMENT", jobStatus: "SUCCEED" },
    ],
    recommend: [
      { userId: "u1", limit: 2, attributes: ["genre"] },
      { userId: "u1", results: [{ item }, { item }] },
    ],
  };
  expect(Object.keys(questions).sort()).toEqual(Object.keys(lookups).sort());
  for (const [name, [args, answer]] of Object.entries(questions))
    expect(await plugin.invoke(name, args as Properties)).toMatchObject(answer);
});

test("the address of a result is always secret, also in previews and lookups", async () => {
  const inputs = { projectId, modelId, name: "c", clusterType: "user", parameters: { minUserNum: 1 } };
  const job = await plugin.create("ClusteringJob", inputs);
  const news = { ...inputs, submittedJobId: job.id };
  const { id, state } = await plugin.create("UserClustering", news);
  expect(state.downloadUrl).toEqual(secret(expect.stringMatching(/^http/)));
  expect((await plugin.read("UserClustering", id, state, news)).state.downloadUrl).toEqual(state.downloadUrl);
  const { downloadUrl } = state;
  expect(await plugin.invoke("getJob", { projectId, jobId: id })).toMatchObject({
    jobResult: { downloadUrl },
  });
  const preview = await plugin.create("UserClustering", news, { preview: true });
  expect(preview.state.downloadUrl).toEqual(secret(expect.any(String)));
});
