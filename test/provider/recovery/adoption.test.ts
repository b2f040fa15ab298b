import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../../contract";
import { entriesOf } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { type BindingName, Bindings, bindingNames } from "../../faults/bindings";
import { resetAfter } from "../../faults/faults";
import { FaultProxy } from "../../faults/proxy";
import { LocalStack } from "../../faults/runs";
import { makeWorld, type World } from "../../faults/scenes";

const bindings = new Bindings();
const directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;
let deployment: { projectId: string; generatorModelId: string; qps: number };
beforeAll(async () => {
  process.env.XDG_STATE_HOME = directory;
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
  proxy.hidesKeys = true;
  const { url } = proxy;
  const addresses = { "recommender:baseUrl": url, "recommender:tokenUrl": `${url}/oauth/token` };
  stack = new LocalStack({ ...observed.config, ...addresses }, bindings);
  world = await makeWorld(observed);
  deployment = { projectId: world.projectId, generatorModelId: world.modelId, qps: 1000 };
});
afterAll(async () => {
  await stack.close();
  bindings.close();
  await proxy.close();
  await observed.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => proxy.clear());
afterEach(() => {
  delete process.env.RECOMMENDER_ADOPT;
});

type Args = Record<string, unknown>;

/** Job that does not exist, so the resource that waits for it submits a new one. */
const submittedJobId = "job-gone";
const urnOf = (type: string, name: string) =>
  `urn:pulumi:faults::test::pulumi-nodejs:dynamic/recommender:${type}::${name}`;
const jobsTaken = () =>
  proxy.taken
    .filter(({ call }) => /^POST \/submit-/.test(call))
    .map(({ answer }) => JSON.parse(answer ?? "{}").job_id as string);

/** Loses the reply to the submission of a resource, and returns the id of its job. */
async function lose(binding: BindingName, type: string, name: string, args: Args): Promise<string> {
  const call = type === "Model" ? "POST /submit-training-job" : "POST /submit-deployment-job";
  await stack.begin(binding);
  proxy.on(call, resetAfter);
  await expect(stack.up(type, name, args)).rejects.toThrow(/RECOMMENDER_ADOPT=\S+ pulumi up/);
  await observed.service.idle();
  return jobsTaken().at(-1) as string;
}

/** Runs the printed command, and then `pulumi up` without it. */
async function adopt(binding: BindingName, type: string, name: string, args: Args, id: string) {
  const submitted = jobsTaken().length;
  process.env.RECOMMENDER_ADOPT = `${name}=${id}`;
  await stack.begin(binding);
  const adopted = await stack.up(type, name, args);
  delete process.env.RECOMMENDER_ADOPT;
  await stack.begin(binding);
  const next = await stack.up(type, name, args);
  expect(jobsTaken()).toHaveLength(submitted);
  expect(entriesOf(urnOf(type, name))).toEqual([]);
  expect({ id: next.id, ...next.state }).toMatchObject({ id: adopted.id });
  return adopted;
}

describe.each(bindingNames)("with the %s binding, RECOMMENDER_ADOPT", (binding) => {
  test("settles the lost submission of a changed DeploymentJob, so the next run asks nothing", async () => {
    const name = `changed-${binding}`;
    await stack.begin(binding);
    await stack.up("DeploymentJob", name, { name, ...deployment });
    const args = { name, ...deployment, qps: 900 };
    const jobId = await lose(binding, "DeploymentJob", name, args);
    const { state } = await adopt(binding, "DeploymentJob", name, args, jobId);
    expect(state.jobId).toBe(jobId);
  });

  test("makes a new Deployment wait for the job that the lost submission started", async () => {
    const name = `new-${binding}`;
    const args = { name, ...deployment, submittedJobId };
    const jobId = await lose(binding, "Deployment", name, args);
    const { id, state } = await adopt(binding, "Deployment", name, args, jobId);
    expect({ id, ...state }).toMatchObject({ id: world.projectId, deploymentJobId: jobId });
  });

  test("makes a changed Deployment wait for the job, and keeps the outputs of the job", async () => {
    const name = `updated-${binding}`;
    await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
    await observed.service.idle();
    await stack.begin(binding);
    await stack.up("Deployment", name, { name, ...deployment, existingId: world.projectId });
    const args = { name, ...deployment, existingId: world.projectId, qps: 900 };
    const jobId = await lose(binding, "Deployment", name, args);
    const { state } = await adopt(binding, "Deployment", name, args, jobId);
    expect(state).toMatchObject({ deploymentJobId: jobId, servingUri: expect.any(String), qps: 900 });
  });

  test("is rejected for a Deployment if the project has no such job", async () => {
    const name = `refused-${binding}`;
    const args = { name, ...deployment, submittedJobId };
    const jobId = await lose(binding, "Deployment", name, args);
    process.env.RECOMMENDER_ADOPT = `${name}=job-of-nobody`;
    await stack.begin(binding);
    await expect(stack.up("Deployment", name, args)).rejects.toThrow(
      /Cannot adopt job job-of-nobody: .* no such job/,
    );
    await adopt(binding, "Deployment", name, args, jobId);
  });

  test("ends a rollback whose submission was lost, before anything else is deployed or checked", async () => {
    const name = `rolled-back-${binding}`;
    const existingId = world.projectId;
    const before = await observed.call(routes.submitDeploymentJob, { name: "before", ...deployment });
    await observed.service.idle();
    await stack.begin(binding);
    await stack.up("Deployment", name, { name, ...deployment, existingId });
    const { jobId: submitted } = await observed.call(routes.submitDeploymentJob, {
      ...{ name, ...deployment, qps: 900 },
    });
    await observed.service.idle();
    const check = { userIds: ["u1"], minResults: 50 };
    const news = {
      name,
      ...deployment,
      qps: 900,
      existingId,
      submittedJobId: submitted,
      check,
      rollback: true,
    };
    const jobId = await lose(binding, "Deployment", name, news);
    expect([before.jobId, submitted]).not.toContain(jobId);
    process.env.RECOMMENDER_ADOPT = `${name}=${jobId}`;
    await stack.begin(binding);
    const rolledBack = new RegExp(`rolled back to the previous models by job ${jobId}`);
    await expect(stack.up("Deployment", name, news)).rejects.toThrow(rolledBack);
    const state = await stack.refresh("Deployment", name);
    expect(state).toMatchObject({ qps: 1000, deploymentJobId: jobId, rolledBackJobId: submitted });
    expect(state).not.toHaveProperty("__rollbackOf");
  });

  test.each(["job", "model"])("takes the %s of a training that a Model submitted again", async (what) => {
    const name = `trained-${what}-${binding}`;
    const { projectId, algorithmId } = world;
    const args = { name, projectId, algorithmId, submittedJobId };
    const jobId = await lose(binding, "Model", name, args);
    const { jobResult } = await observed.call(routes.getJob, { projectId, jobId });
    const modelId = jobResult?.modelId as string;
    const { id } = await adopt(binding, "Model", name, args, what === "job" ? jobId : modelId);
    expect(id).toBe(modelId);
  });
});
