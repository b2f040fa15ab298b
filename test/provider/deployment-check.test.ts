import { routes } from "../../contract";
import type { Properties } from "../../provider/run/state-entry";
import { ObservedService } from "../engine/observed-service";
import { type Deployed, deployWith, redeployWith } from "./deploying";
import { DynamicProvider, partialState } from "./dynamic-provider";
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

/** Returns the live model from the record of the deployment. */
async function serving(jobId: unknown): Promise<unknown> {
  const job = await observed.call(routes.getJob, { projectId, jobId: jobId as string });
  return job.jobData?.generatorModelId;
}

describe("a deployment", () => {
  test("whose check fails stays failed in every run until the check passes, without another deployment job", async () => {
    const check = { userIds: ["u1"], minResults: 1000 };
    const error = await deploy({ generatorModelId: models[0], check }).catch((thrown) => thrown);
    const reason =
      /Deployment live: it is deployed, but the check failed: check\.userIds\[0\] got \d+ results, but at least 1000/;
    expect(error.message).toMatch(reason);
    const { state, reasons } = partialState(error);
    expect(reasons).toEqual([expect.stringMatching(/^it is deployed, but the check failed: check\.userIds/)]);
    expect(state).toMatchObject({ deploymentJobId: state.submittedJobId, servingUri: expect.any(String) });
    const { checkFailed: _, servingUri: __, deploymentJobId: ___, ...args } = state;
    for (let run = 0; run < 2; run++) {
      await nextRun();
      // A refresh in between removes the engine's own record of the failure.
      expect(await provider.diff("Deployment", projectId, state, args)).toMatchObject({ changes: true });
      const again = await provider.update("Deployment", projectId, state, args).catch((thrown) => thrown);
      expect(again.message).toMatch(reason);
      expect(partialState(again)).toEqual({ id: projectId, state, reasons });
    }
    const read = await provider.read("Deployment", projectId, state);
    expect(read.state.checkFailed).toBe(true);
    expect(provider.messages).toContainEqual(
      expect.objectContaining({
        severity: "warning",
        message: expect.stringMatching(/^its check failed; `pulumi up` repeats it$/),
      }),
    );
    const mended = { ...args, check: { ...check, minResults: 1 } };
    const passed = await provider.update("Deployment", projectId, state, mended);
    expect(passed).toMatchObject({ deploymentJobId: state.deploymentJobId, check: { minResults: 1 } });
    expect(passed.checkFailed).toBeUndefined();
    expect(await provider.diff("Deployment", projectId, passed, mended)).toMatchObject({ changes: false });
    expect(submitted()).toBe(0);
  });

  test("whose check fails is rolled back if configured, with both reasons, and deployed again by the next run", async () => {
    const check = { userIds: ["u1", "u2"], minResults: 1 };
    const first = await deploy({ generatorModelId: models[0], check, rollback: true });
    observed.calls();
    const second = await redeploy(first, {
      generatorModelId: models[1],
      rankerModelId: models[0],
      check: { ...check, minResults: 1000 },
    });
    const error = await second.update().catch((thrown) => thrown);
    expect(error.message).toMatch(
      /the check failed: .*; rolled back to the previous models by job (job-\S+)/,
    );
    expect(submitted()).toBe(2);
    const back = /by job (job-\S+)/.exec(error.message)?.[1];
    expect(await serving(back)).toBe(models[0]);
    const kept = partialState(error);
    const rolledBack = { deploymentJobId: back, rolledBackJobId: second.job.jobId, __partial: true };
    expect(kept).toMatchObject({ id: projectId, state: { ...first.state, ...rolledBack } });
    const news = { ...second.news, check };
    const third = await provider.update("Deployment", projectId, kept.state, news);
    expect(submitted()).toBe(1);
    expect(await serving(third.deploymentJobId)).toBe(models[1]);
    expect([third.rolledBackJobId, third.__partial]).toEqual([undefined, undefined]);
  });

  test("whose check fails is rolled back if only the configuration enables rollback", async () => {
    const check = { userIds: ["u1"], minResults: 1 };
    const first = await deploy({ generatorModelId: models[0], check });
    await provider.stop();
    provider = await DynamicProvider.start({ ...observed.config, "recommender:rollback": "true" });
    const other = { generatorModelId: models[1], check: { ...check, minResults: 1000 } };
    const second = await redeploy(first, other);
    await expect(second.update()).rejects.toThrow(/rolled back to the previous models by job/);
    await nextRun();
  });

  test("that is renamed and gets a new check deploys nothing, not even a rollback", async () => {
    const check = { userIds: ["u1"], minResults: 1 };
    const first = await deploy({ generatorModelId: models[0], check, rollback: true });
    await nextRun();
    const { servingUri: _, deploymentJobId, ...args } = first.state;
    const news = { ...args, name: "renamed", check: { ...check, minResults: 1000 } };
    expect(await provider.diff("Deployment", projectId, first.state, news)).toMatchObject({ changes: true });
    const renamed = await provider.update("Deployment", projectId, first.state, news);
    expect(renamed).toMatchObject({ name: "renamed", deploymentJobId, check: { minResults: 1000 } });
    expect(submitted()).toBe(0);
    expect(await provider.diff("Deployment", projectId, renamed, news)).toMatchObject({ changes: false });
  });

  test("with only a new check deploys nothing and stores the new check", async () => {
    const first = await deploy({ generatorModelId: models[0] });
    observed.calls();
    const check = { userIds: ["u2"], minResults: 1 };
    const state = await provider.update("Deployment", projectId, first.state, { ...first.news, check });
    expect(state).toMatchObject({ check, deploymentJobId: first.job.id, servingUri: first.state.servingUri });
    expect(observed.calls()).toEqual([]);
  });

  test("whose check is rejected does not repeat a message of the service that names the user", async () => {
    const path = routes.recommendItemsToUser.path;
    await observed.faults({ calls: [{ path, status: 422, times: 9 }] });
    const refused = async (userId: string) => {
      const check = { userIds: [userId], minResults: 1 };
      return (await deploy({ generatorModelId: models[0], check }).catch((thrown) => thrown)).message;
    };
    // The message of the service: This error was injected by /faults.
    expect(await refused("faults")).toMatch(
      /the check failed: check\.userIds\[0\]: 422 \w+ \(request \S+\)$/,
    );
    expect(await refused("u1")).toMatch(/the check failed: check\.userIds\[0\]: POST .*injected by/);
  });

  test("whose results do not match the filter of its check fails it", async () => {
    const check = { userIds: ["u1"], minResults: 1, filterQuery: "true" };
    expect(await deploy({ generatorModelId: models[0], check })).toMatchObject({ state: { check } });
    const none = deploy({ generatorModelId: models[0], check: { ...check, filterQuery: "false" } });
    await expect(none).rejects.toThrow(/check\.userIds\[0\] got 0 results, but at least 1 are required/);
    const wrong = deploy({ generatorModelId: models[0], check: { ...check, filterQuery: "item.nothing" } });
    await expect(wrong).rejects.toThrow(/the check failed: .*at character 1: item\.nothing is unknown/);
  });

  test("whose responses are too slow fails its check", async () => {
    const check = { userIds: ["u1"], minResults: 1, maxLatencyMs: 0.001 };
    await expect(deploy({ generatorModelId: models[0], check })).rejects.toThrow(
      /the check failed: the response for check\.userIds\[0\] took \d+ ms, but the limit is 0.001 ms/,
    );
  });
});
