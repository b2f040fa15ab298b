import { setTimeout as sleep } from "node:timers/promises";
import { routes } from "../../../contract";
import { entriesOf } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { DynamicProvider } from "../dynamic-provider";
import { trainedProject } from "../trained-project";

let observed: ObservedService;
let provider: DynamicProvider;
let projectId: string;
let algorithmId: string;

beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  provider = await DynamicProvider.start(observed.config);
  ({ projectId, algorithmId } = await trainedProject(observed));
});
afterAll(async () => {
  await provider.stop();
  await observed.close();
});
afterEach(() => observed.releaseJobs());

const submit = (name: string) =>
  provider.create("TrainingJob", { name, projectId, algorithmId, triggers: [] });
const finish = (name: string, submittedJobId: string) =>
  provider.create("Model", { name, projectId, algorithmId, submittedJobId });
const train = async (name: string) => finish(name, (await submit(name)).id);

/** Starts a provider in a new process, which is a new run. */
async function nextRun(config: Record<string, string> = observed.config): Promise<void> {
  await provider.stop();
  provider = await DynamicProvider.start(config);
  observed.calls();
}

/** Resolves once the provider has reported on a job. */
async function saysOf(jobId: string): Promise<void> {
  while (!provider.messages.some(({ message }) => message.includes(jobId))) await sleep(20);
}

const submissions = () => observed.calls().filter((call) => call.includes("/submit-"));

test("a job sends no stack and no resource to the service if tellOrigin is off", async () => {
  await nextRun({ ...observed.config, "recommender:tellOrigin": "false" });
  const before = (await observed.origins()).length;
  await submit("untold");
  expect((await observed.origins()).slice(before)).toEqual([undefined]);
  await nextRun();
});

describe("a training", () => {
  test("is submitted without waiting, and finished as a model with its parameters and quality", async () => {
    await observed.holdJobs();
    const job = await submit("first");
    expect(job.state).toMatchObject({ jobId: job.id });
    expect((await observed.origins()).at(-1)).toEqual({ project: "test", stack: "test", resource: "first" });
    const finishing = finish("first", job.id);
    await saysOf(job.id);
    await observed.releaseJobs();
    const { id, state } = await finishing;
    expect(state).toMatchObject({
      modelId: id,
      trainingJobId: job.id,
      algorithmType: "G1",
      algorithmParameters: { dimensions: 8 },
      quality: { ndcgAt20: expect.any(Number) },
    });
    expect(provider.messages.map(({ message }) => message).join("\n")).toMatch(
      /(PENDING|RUNNING) \S+( \(\w+ \d+ %\))?: training job-/,
    );
  });

  test("that fails reports the reason and is not submitted again in the same run", async () => {
    await observed.faults({
      jobs: [{ job_type: "TRAINING", name: "broken", times: 4, message: "out of luck" }],
    });
    const job = await submit("broken");
    observed.calls();
    await expect(finish("broken", job.id)).rejects.toThrow(
      /Model broken: training job \S+ failed after 3 retries by the service: out of luck.*next `pulumi up` submits it again/,
    );
    expect(submissions()).toEqual([]);
  });

  test("that an earlier run left failed is submitted again, once", async () => {
    await observed.faults({ jobs: [{ job_type: "TRAINING", name: "again", times: 4 }] });
    const job = await submit("again");
    await expect(finish("again", job.id)).rejects.toThrow(/failed/);
    await nextRun();
    const { state } = await finish("again", job.id);
    expect(submissions()).toEqual(["POST /submit-training-job"]);
    expect(state.submittedJobId).toBe(job.id);
    expect(state.trainingJobId).not.toBe(job.id);
  });

  test("that an earlier run submitted again is the same job for the next run, not a third one", async () => {
    await observed.faults({ jobs: [{ job_type: "TRAINING", name: "thrice", times: 4 }] });
    const job = await submit("thrice");
    await expect(finish("thrice", job.id)).rejects.toThrow(/failed/);
    await nextRun();
    const second = await finish("thrice", job.id);
    await nextRun();
    const third = await finish("thrice", job.id);
    expect(third.state.trainingJobId).toBe(second.state.trainingJobId);
    expect(third.id).toBe(second.id);
  });

  test("that fails in several runs is reported once in each, and its journal is empty once it has succeeded", async () => {
    await observed.faults({ jobs: [{ job_type: "TRAINING", times: 100, message: "bad luck." }] });
    const told = () => {
      const messages = provider.messages.filter(({ severity }) => severity === "info");
      return messages.map(({ message }) => message).filter((message) => !/^[A-Z]+ /.test(message));
    };
    const submittedAgain = expect.stringMatching(/had failed \(bad luck\); submitted again as job-/);
    await nextRun();
    const job = await submit("unlucky");
    for (let run = 0; run < 3; run++) {
      await expect(finish("unlucky", job.id)).rejects.toThrow(
        "bad luck. The next `pulumi up` submits it again.",
      );
      expect(told()).toEqual(run === 0 ? [] : [submittedAgain]);
      await nextRun();
    }
    await observed.faults({});
    const model = await finish("unlucky", job.id);
    expect(told()).toEqual([
      submittedAgain,
      expect.stringMatching(
        /^trained with NDCG@20 \d\.\d+ \(popularity \d\.\d+\) on \d+ held-out pairs(: uncertain)?$/,
      ),
    ]);
    const urn = "urn:pulumi:test::test::pulumi-nodejs:dynamic/recommender:Model::unlucky";
    expect(entriesOf(urn)).toHaveLength(3);
    await provider.diff("Model", model.id, model.state, model.state);
    expect(entriesOf(urn)).toEqual([]);
  });

  test("whose model was deleted runs again", async () => {
    const job = await submit("gone");
    const { id } = await finish("gone", job.id);
    await observed.call(routes.deleteModel, { projectId, modelId: id });
    await nextRun();
    expect((await finish("gone", job.id)).id).not.toBe(id);
    expect(submissions()).toEqual(["POST /submit-training-job"]);
  });

  test("that no longer exists in the service is submitted again by another machine, under its current name", async () => {
    // A different stack has no journal, like a different machine.
    const machine = (stack: string) => ({
      __urn: `urn:pulumi:${stack}::test::pulumi-nodejs:dynamic/recommender:Model::forgotten`,
    });
    for (const submittedJobId of ["job-forgotten", "lost-job-of-model-forgotten"]) {
      const finishAs = async (name: string, stack: string) => {
        await nextRun();
        const { state } = await provider.create("Model", {
          ...{ name, projectId, algorithmId, submittedJobId },
          ...machine(`${stack}-${submittedJobId}`),
        });
        expect(submissions().length).toBeLessThanOrEqual(1);
        return state.trainingJobId;
      };
      const first = await finishAs("one", "here");
      expect(await finishAs("one", "there")).toBe(first);
      expect(await finishAs("two", "elsewhere")).not.toBe(first);
      // With a journal, the job is the same under any name.
      expect(await finishAs("two", "here")).toBe(first);
    }
  });

  test("that takes too long keeps its job, and the next run waits for it without submitting another", async () => {
    await observed.holdJobs();
    await nextRun({ ...observed.config, "recommender:trainingTimeout": "1s" });
    const job = await submit("slow");
    await expect(finish("slow", job.id)).rejects.toThrow(
      /still (PENDING|RUNNING) after 1 second. It keeps running; .*pulumi config set recommender:trainingTimeout/,
    );
    await observed.releaseJobs();
    await nextRun();
    expect((await finish("slow", job.id)).state.trainingJobId).toBe(job.id);
    expect(submissions()).toEqual([]);
  });

  test("keeps running if the wait is cancelled, and the next run resumes the wait", async () => {
    await observed.holdJobs();
    await nextRun();
    const job = await submit("stopped");
    const model = finish("stopped", job.id).catch((error) => error);
    await saysOf(job.id);
    await provider.cancel();
    expect((await model).message).toMatch(
      `Model stopped: training job ${job.id} keeps running; the next \`pulumi up\` resumes the wait for it.`,
    );
    await observed.releaseJobs();
    await nextRun();
    expect((await finish("stopped", job.id)).state.trainingJobId).toBe(job.id);
    expect(submissions()).toEqual([]);
  });

  test("below minQuality is rejected, and used without another training if minQuality is lowered", async () => {
    await nextRun({ ...observed.config, "recommender:minQuality": '{"gate":1,"other":0}' });
    const job = await submit("gate");
    await expect(finish("gate", job.id)).rejects.toThrow(
      /Model gate: model \S+ is not good enough: it has NDCG@20 0\.\d+( \(uncertain\))?, but recommender:minQuality requires at least 1\.0000/,
    );
    await train("other");
    await nextRun({ ...observed.config, "recommender:minQuality": "0.001" });
    const { state } = await finish("gate", job.id);
    expect(state.trainingJobId).toBe(job.id);
    expect(submissions()).toEqual([]);
    await nextRun();
  });

  test.each([
    ["by its answer", (jobId: string, _: string) => jobId],
    ["by its model alone", (_: string, modelId: string) => `lost-job-of-${modelId}`],
  ])("known %s reports a model that no resource references, only if there is one", async (_, known) => {
    const job = await submit("unheld");
    const { id: modelId, state } = await finish("unheld", job.id);
    const goes = async () => {
      provider.messages.length = 0;
      await provider.delete("TrainingJob", known(job.id, modelId), job.state);
      return provider.messages.map(({ message }) => message);
    };
    await nextRun();
    provider.hold("Model", modelId, state);
    expect(await goes()).toEqual([]);
    await nextRun();
    expect(await goes()).toEqual([expect.stringContaining(`Model ${modelId} is orphaned in project`)]);
    await provider.delete("Model", modelId, state);
    await nextRun();
    expect(await goes()).toEqual([]);
  });

  test("that is deleted while it runs warns that its model stays", async () => {
    await observed.holdJobs();
    const job = await submit("orphan");
    await nextRun();
    provider.messages.length = 0;
    await provider.delete("TrainingJob", job.id, job.state);
    expect(provider.messages).toMatchObject([
      { severity: "warning", message: expect.stringMatching(/orphaned in project/) },
    ]);
    await observed.releaseJobs();
    await observed.service.idle();
  });
});

describe("a model", () => {
  test("is renamed in place and keeps the rest", async () => {
    const { id, state } = await train("before");
    const news = { name: "after", projectId, algorithmId, submittedJobId: state.submittedJobId };
    const updated = await provider.update("Model", id, state, news);
    const { __urn: _, ...kept } = state;
    expect(updated).toMatchObject({ ...kept, name: "after" });
    expect(await observed.call(routes.getModel, { projectId, modelId: id })).toMatchObject({ name: "after" });
  });

  test("can be adopted, and a missing one is rejected by name", async () => {
    const { id } = await train("mine");
    const adopted = await provider.create("Model", { name: "adopted", projectId, existingId: id });
    expect(adopted).toMatchObject({ id, state: { modelId: id, name: "adopted" } });
    expect(await observed.call(routes.getModel, { projectId, modelId: id })).toMatchObject({
      name: "adopted",
    });
    await expect(
      provider.create("Model", { name: "x", projectId, existingId: "nope".repeat(64) }),
    ).rejects.toThrow(/Model x: existingId (nope){16}…: there is no such model/);
  });

  test("that is live in another deployment is not deleted, and the error names the fix", async () => {
    const { id, state } = await train("served");
    const args = { name: "d", projectId, generatorModelId: id, qps: 5 };
    const job = await provider.create("DeploymentJob", args);
    await provider.create("Deployment", { ...args, rollback: false, submittedJobId: job.id });
    await nextRun();
    await expect(provider.delete("Model", id, state)).rejects.toThrow(/Model served: .*shutdown-deployment/);
    await nextRun();
    await provider.delete("Deployment", projectId, args);
    await provider.delete("Model", id, state);
  });
});
