import { routes } from "../../contract";
import type { Properties } from "../../provider/run/state-entry";
import { ObservedService } from "../engine/observed-service";
import { type Deployed, deployWith, redeployWith } from "./deploying";
import { DynamicProvider, unknownValue } from "./dynamic-provider";
import { trainedProject } from "./trained-project";

let observed: ObservedService;
let provider: DynamicProvider;
let projectId: string;
let models: [string, string];

beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  provider = await DynamicProvider.start(observed.config);
  ({ projectId, models } = await trainedProject(observed));
});
afterAll(async () => {
  await provider.stop();
  await observed.close();
});
afterEach(() => observed.releaseJobs());

/** Starts a provider in a new process, which is a new run. */
async function nextRun(): Promise<void> {
  await provider.stop();
  provider = await DynamicProvider.start(observed.config);
  observed.calls();
}

const submitted = () => observed.calls().filter((call) => call.includes("/submit-")).length;

const deploy = (args: Properties) => deployWith(provider, projectId, args);
const redeploy = (from: Deployed, change: Properties) => redeployWith(provider, projectId, from, change);

describe("a deployment", () => {
  test("is live after one job, and stays live during a switch to other models", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    expect(first.state).toMatchObject({
      deploymentJobId: first.job.id,
      servingUri: expect.stringContaining(projectId),
    });
    observed.calls();
    const second = await redeploy(first, { generatorModelId: models[1], rankerModelId: models[0] });
    const answers: Promise<unknown>[] = [];
    const update = second.update();
    for (let at = 0; at < 20; at++)
      answers.push(observed.call(routes.recommendItemsToUser, { userId: "u1" }));
    expect(await update).toMatchObject({ deploymentJobId: second.job.jobId, generatorModelId: models[1] });
    await Promise.all(answers);
    const calls = observed.calls();
    expect(calls.filter((call) => call === "POST /submit-deployment-job")).toHaveLength(1);
    expect(calls).not.toContain("DELETE /shutdown-deployment");
  });

  test("that fails keeps the previous models live", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    await observed.faults({ jobs: [{ job_type: "DEPLOYMENT", times: 4, message: "no room" }] });
    const second = await redeploy(first, { generatorModelId: models[1] });
    await expect(second.update()).rejects.toThrow(/Deployment live: deployment job \S+ failed .*: no room/);
    expect(
      (await observed.call(routes.recommendItemsToUser, { userId: "u1" })).results.length,
    ).toBeGreaterThan(0);
  });

  test("that is not live is reported as gone by a refresh with a check, and can be shut down again", async () => {
    const first = await deploy({ generatorModelId: models[0], check: { userIds: ["u1"], minResults: 1 } });
    expect(await provider.read("Deployment", projectId, first.state)).toMatchObject({ id: projectId });
    await nextRun();
    await provider.delete("Deployment", projectId, first.state);
    expect(await provider.read("Deployment", projectId, first.state)).toMatchObject({ id: "" });
    await provider.delete("Deployment", projectId, first.state);
  });

  test("that was shut down by hand is deployed again, although its job had succeeded", async () => {
    for (const check of [undefined, { userIds: ["u1"], minResults: 1 }]) {
      const first = await deploy({ generatorModelId: models[0], ...(check && { check }) });
      await observed.call(routes.shutdownDeployment, { projectId });
      await nextRun();
      const again = await provider.create("Deployment", first.news);
      expect(submitted()).toBe(1);
      expect(again.state.deploymentJobId).not.toBe(first.job.id);
      await observed.call(routes.recommendItemsToUser, { userId: "u1" });
    }
  });

  test("prevents the deletion of its model, and the error names the deployment and the fix", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    const state = { name: "m1", projectId, modelId: models[0] };
    const refusal = async () => {
      const error = await provider.delete("Model", models[0], state).catch((thrown) => thrown);
      expect(error.message).toContain("MODEL_DEPLOYED");
      return error.message;
    };
    await nextRun();
    expect(await refusal()).toMatch(
      /A deployment outside this stack uses it: deploy a different model there, or .*`recommender shutdown --project project-/,
    );
    await nextRun();
    provider.hold("Deployment", projectId, first.state);
    const notReached = await refusal();
    expect(notReached).toMatch(
      /Deployment live of this stack still uses it, and this run has not updated it: target it too, with --target 'urn:\S+::live'/,
    );
    expect(notReached).not.toContain("recommender shutdown");
    await nextRun();
    provider.hold("Deployment", projectId, first.state);
    await provider.diff("Deployment", projectId, first.state, first.news);
    const kept = await refusal();
    expect(kept).toMatch(/Deployment live of this stack still uses it: .*ignoreChanges/);
    expect(kept).not.toContain("recommender shutdown");
  });

  test("is rejected by the preview if the project has another deployment, but a renamed one is not", async () => {
    await nextRun();
    const args = { name: "live", projectId, generatorModelId: models[0], qps: 50 };
    const check = (name: string, change: Properties = {}) =>
      provider.check("Deployment", { ...args, submittedJobId: "j", name, ...change });
    expect(await check("one")).toMatchObject({ failures: [] });
    expect(await check("one")).toMatchObject({ failures: [] });
    expect((await check("two")).failures.join()).toMatch(
      /project \S+ can have only one Deployment, and Deployment one and Deployment two are declared/,
    );
    expect(await check("three", { projectId: unknownValue })).toMatchObject({ failures: [] });
    expect(await check("four", { projectId: unknownValue })).toMatchObject({ failures: [] });
    await nextRun();
    expect(await check("two")).toMatchObject({ failures: [] });
    // The new deployment was checked first, and the one in the state must stay.
    const held = { ...args, submittedJobId: "j", name: "one" };
    const { failures } = await provider.check("Deployment", held, held);
    expect(failures.join()).toMatch(/: remove Deployment two$/);
  });

  test("that an interrupted run had submitted is resumed without another job", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    await nextRun();
    const again = await provider.create("Deployment", first.news);
    expect(again.state.deploymentJobId).toBe(first.job.id);
    expect(submitted()).toBe(0);
  });

  test("that is not in the stack is reported when its job is deleted, if it may be live", async () => {
    const { job } = await deploy({ generatorModelId: models[0] });
    await nextRun();
    const toldOf = async (jobId: string) => {
      provider.messages.length = 0;
      await provider.delete("DeploymentJob", jobId, { ...job.state, jobId });
      return provider.messages.filter(({ severity }) => severity === "warning").map(({ message }) => message);
    };
    const serving = (outlook: string) => [
      expect.stringMatching(new RegExp(`: project ${projectId} ${outlook}\\. To stop it, run`)),
    ];
    expect(await toldOf(job.id)).toEqual(serving("still serves"));
    const path = routes.recommendItemsToUser.path;
    await observed.faults({ calls: [{ path, status: 403, times: 9 }] });
    expect(await toldOf(job.id)).toEqual(serving("may still serve: could not check \\(.*403.*\\)"));
    await observed.holdJobs();
    const request = { name: "later", projectId, generatorModelId: models[1], qps: 50 };
    const { jobId } = await observed.call(routes.submitDeploymentJob, request);
    expect(await toldOf(jobId)).toEqual(serving("will serve once the job succeeds"));
    await observed.releaseJobs();
    await observed.service.idle();
    await observed.call(routes.shutdownDeployment, { projectId });
    expect(await toldOf(job.id)).toEqual([]);
  });

  test("that replaces a deployment of the same project is not shut down with it", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    await nextRun();
    await provider.create("Deployment", first.news);
    await provider.delete("Deployment", projectId, first.state);
    await observed.call(routes.recommendItemsToUser, { userId: "u1" });
  });

  test("whose job deployed different models than declared fails without naming the previous model", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    await nextRun();
    const other = { ...first.news, generatorModelId: models[1], qps: 60 };
    const error = await provider.create("Deployment", other).catch((thrown) => thrown);
    expect(error.message).toMatch(
      /job (job-\S+) did not deploy the declared values: generatorModelId \(changed\), qps 50 → 60. The job is from an earlier run: target the DeploymentJob too, with --target 'urn:\S+:DeploymentJob::live'/,
    );
    for (const model of models) expect(error.message).not.toContain(model);
  });

  test("that exists can be adopted by the id of its project", async () => {
    await deploy({ generatorModelId: models[0] });
    observed.calls();
    const args = { name: "live", projectId, generatorModelId: models[0], qps: 50, rollback: false };
    const adopted = await provider.create("Deployment", { ...args, existingId: projectId });
    expect(adopted.id).toBe(projectId);
    expect(submitted()).toBe(0);
    await expect(provider.create("Deployment", { ...args, existingId: "other" })).rejects.toThrow(
      /existingId other: expected \S+, because a deployment has the id of its project/,
    );
  });
});
