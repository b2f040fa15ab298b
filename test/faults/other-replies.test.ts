import { routes } from "../../contract";
import { bindingNames } from "./bindings";
import { instead, otherObject, withFields } from "./faults";
import type { FaultProxy } from "./proxy";
import type { LocalStack } from "./runs";
import type { Scene, World } from "./scenes";
import { messageOf, Stage } from "./stage";

const always = { times: Number.POSITIVE_INFINITY };
let stage: Stage;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;
let all: readonly Scene[];

beforeAll(async () => {
  stage = await Stage.start();
  ({ proxy, stack, world, all } = stage);
});
afterAll(() => stage.close());
beforeEach(() => {
  proxy.clear();
  stack.others = [];
});
afterEach(() => {
  proxy.hidesKeys = false;
  delete process.env.RECOMMENDER_CREATE_AGAIN;
});

const asks = /RECOMMENDER_ADOPT=.+ pulumi up.*RECOMMENDER_CREATE_AGAIN=.+ pulumi up/;
const urnIn = (stackName: string, type: string, name: string) =>
  `urn:pulumi:${stackName}::test::pulumi-nodejs:dynamic/recommender:${type}::${name}`;

/** State entry of an object in the stack `other`. */
const heldByOther = (type: string, id: string) => ({
  ...{ urn: urnIn("other", type, "theirs"), type, id, made: "00000000", service: proxy.url },
});

describe.each(bindingNames)("with the %s binding,", (binding) => {
  test.each([true, false])("a create whose reply has another name asks (keys hidden: %s)", async (hidden) => {
    proxy.hidesKeys = hidden;
    const creates = all.filter(({ call }) => call.startsWith("POST /create-"));
    for (const [at, scene] of creates.entries()) {
      proxy.clear();
      const act = await scene.prepare(`named-${hidden}-${binding}-${at}`);
      await stack.begin(binding);
      const heal = proxy.on(scene.call, withFields({ name: "payments" }), always);
      const message = await messageOf(act.act());
      expect(message).toMatch(asks);
      expect(message).toContain("the response is about name payments, not named");
      heal();
      process.env.RECOMMENDER_CREATE_AGAIN = "1";
      await stack.begin(binding);
      expect(await messageOf(act.act())).toBe("it succeeded");
      delete process.env.RECOMMENDER_CREATE_AGAIN;
    }
  });

  test("a create asks if its reply names an object that another stack holds, and keeps that object", async () => {
    const { eventDatasetId } = await stage.observed.call(routes.createEventDataset, {
      ...{ name: "theirs", numShards: 1 },
    });
    stack.others = [heldByOther("EventDataset", eventDatasetId)];
    await stack.begin(binding);
    const name = `replayed ${binding}`;
    proxy.on("POST /create-event-dataset", withFields({ event_dataset_id: eventDatasetId }));
    const message = await messageOf(stack.up("EventDataset", name, { name, numShards: 1 }));
    expect(message).toContain(`names ${eventDatasetId}, which EventDataset theirs of stack other uses`);
    expect(message).toMatch(asks);
    await stack.destroy("EventDataset", name);
    await expect(stage.observed.call(routes.getEventDataset, { eventDatasetId })).resolves.toMatchObject({
      eventDatasetId,
    });
  });

  test("two creates of a run never get the same object", async () => {
    await stack.begin(binding);
    const [one, two] = ["one", "two"].map((which) => `${which} ${binding}`) as [string, string];
    const { id } = await stack.up("UserDataset", one, { name: "same", numShards: 1 });
    proxy.on("POST /create-user-dataset", withFields({ user_dataset_id: id }));
    const message = await messageOf(stack.up("UserDataset", two, { name: "same", numShards: 1 }));
    expect(message).toMatch(asks);
    expect(message).toContain(`the response names ${id}`);
  });

  test("a submission asks if its reply names a job of another project or with another name", async () => {
    const { projectId, algorithmId, jobId } = world;
    for (const [what, record, difference] of [
      ["project", withFields({ project_id: "other" }), `project_id other, not ${projectId}`],
      ["name", undefined, `job ${jobId}, which has the name first, not name`],
    ] as const) {
      await stack.begin(binding);
      const name = `${what} ${binding}`;
      proxy.on("POST /submit-training-job", withFields({ job_id: jobId }));
      if (record) proxy.on("GET /get-job", record, always);
      const message = await messageOf(stack.up("TrainingJob", name, { name, projectId, algorithmId }));
      expect(message).toMatch(asks);
      expect(message).toContain(difference);
      proxy.clear();
    }
  });

  test("a stored job of another project has a way out: a replacement submits a new job, a destroy works", async () => {
    const { projectId, algorithmId } = world;
    const name = `stored-${binding}`;
    await stack.begin(binding);
    const job = await stack.up("TrainingJob", name, { name, projectId, algorithmId });
    await stage.observed.service.idle();
    await stack.begin(binding);
    proxy.on("GET /get-job", otherObject, always);
    const args = { name, projectId, algorithmId, submittedJobId: job.id };
    const message = await messageOf(stack.up("Model", name, args));
    expect(message).toContain(`Job ${job.id} in the state belongs to another project. Submit a new one: `);
    expect(message).toMatch(new RegExp(`\`pulumi up --replace '?urn:\\S+:TrainingJob::${name}'?\``));
    await stack.destroy("TrainingJob", name);
    expect(stage.messages.join("\n")).toContain(`Job ${job.id} is only removed from the state`);
  });

  test("a check does not count recommendations for another user", async () => {
    const { projectId, modelId: generatorModelId } = world;
    const name = `checked ${binding}`;
    const deployment = { projectId, name: "before", generatorModelId, qps: 1000 };
    await stage.observed.call(routes.submitDeploymentJob, deployment);
    await stage.observed.service.idle();
    await stack.begin(binding);
    const theirs = { user_id: "bob", results: [{ item: { item_id: "i1" } }] };
    proxy.on("POST /recommend-items-to-user", withFields(theirs), always);
    const check = { userIds: ["u1"], minResults: 1 };
    const args = { name, projectId, generatorModelId, qps: 1000, existingId: projectId, check };
    const message = await messageOf(stack.up("Deployment", name, args));
    expect(message).toMatch(/check\.userIds\[0\]: .*the response is about another user_id than the request/);
    expect(message).not.toContain("bob");
  });

  test("a 409 that names no project does not complete a shutdown while the project serves", async () => {
    const scene = all.find(({ call }) => call === "DELETE /shutdown-deployment") as Scene;
    await stack.begin(binding);
    const act = await scene.prepare(`shut down ${binding}`);
    await stack.begin(binding);
    const body = { error: { code: "NOT_DEPLOYED", message: "application is not deployed" } };
    const heal = proxy.on(scene.call, instead(409, JSON.stringify(body), { taken: false }), always);
    expect(await messageOf(act.act())).toMatch(
      /NOT_DEPLOYED.*; but a read shows that the object still exists$/,
    );
    expect(await act.done()).toBe(0);
    heal();
    await stack.begin(binding);
    expect(await messageOf(act.act())).toBe("it succeeded");
    expect(await act.done()).toBe(1);
  });
});
