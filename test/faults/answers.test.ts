import { routes } from "../../contract";
import type { ObservedService } from "../engine/observed-service";
import { bindingNames } from "./bindings";
import { fromService, gone, htmlPage, instead, noDeployment, noRoute, rejectWith } from "./faults";
import { type Fault, type FaultProxy, send } from "./proxy";
import type { LocalStack } from "./runs";
import type { Scene, World } from "./scenes";
import { messageOf, Stage } from "./stage";

const always = { times: Number.POSITIVE_INFINITY };
let stage: Stage;
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;
let all: readonly Scene[];

beforeAll(async () => {
  stage = await Stage.start();
  ({ observed, proxy, stack, world, all } = stage);
});
afterAll(() => stage.close());
beforeEach(() => proxy.clear());

/** Ids in a request, as an error names them. */
const named = /the response did not come from the service, so it is unknown whether \w+_id \S+ exists/;

test("every operation fails if a gateway returns 404, and the next run does it once", async () => {
  for (const [at, scene] of all.entries()) {
    const { call } = scene;
    const binding = bindingNames[at % 2] as (typeof bindingNames)[number];
    proxy.clear();
    await stack.begin(binding);
    const act = await scene.prepare(`g${at}`);
    await stack.begin(binding);
    const heal = proxy.on(call, instead(404, noRoute, { taken: false }), always);
    const message = await messageOf(act.act());
    expect({ call, message, done: await act.done() }).toEqual({
      call,
      message: expect.stringMatching(/404: no Route matched/),
      done: 0,
    });
    if (call.startsWith("DELETE") || call.startsWith("GET /get-"))
      expect({ call, message }).toEqual({ call, message: expect.stringMatching(named) });
    heal();
    await stack.begin(binding);
    expect({ call, message: await messageOf(act.act()), done: await act.done() }).toEqual({
      call,
      message: "it succeeded",
      done: 1,
    });
  }
});

/** Service that answers missing objects with "Not Found" only. */
const terse: Fault = async ({ response, pass }) => {
  const answer = await pass();
  const body = Buffer.from(JSON.stringify({ message: "Not Found" }));
  send(response, answer.status === 404 ? { ...answer, body } : answer);
};

test("a 404 without an id means deleted if the list lacks the object and other objects can be read", async () => {
  for (const binding of bindingNames) {
    proxy.clear();
    await stack.begin(binding);
    const name = `terse-${binding}`;
    const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
    proxy.on("*", terse, always);
    expect(await stack.refresh("EventDataset", name)).toMatchObject({ name });
    await observed.call(routes.deleteEventDataset, { eventDatasetId: id });
    await stack.begin(binding);
    expect(await stack.refresh("EventDataset", name)).toBeUndefined();
    await stack.destroy("EventDataset", name);
  }
});

describe("a refresh of a deployment with a check", () => {
  const call = "POST /recommend-items-to-user";
  const json = (body: object) => JSON.stringify(body);
  const deployed = async (name: string): Promise<void> => {
    const { projectId, modelId } = world;
    const args = { name, projectId, generatorModelId: modelId, qps: 1000 };
    await observed.call(routes.submitDeploymentJob, args);
    await observed.service.idle();
    const check = { userIds: ["u1"], minResults: 1 };
    await stack.up("Deployment", name, { ...args, check, existingId: projectId });
  };

  test.each<[string, Fault]>([
    ["HTML with 404", htmlPage(404, { taken: false })],
    ["HTML with 200", htmlPage(200, { taken: false })],
    ["a gateway's JSON 404", instead(404, noRoute, { taken: false })],
    ["a router's JSON 404", instead(404, noDeployment, { taken: false })],
    ["a gateway's JSON 410", instead(410, gone, { taken: false })],
    ["a redirect", instead(302, "", { taken: false, headers: { location: "/login" } })],
  ])("keeps the state entry after %s, and the next run checks it again", async (what, fault) => {
    await stack.begin("dynamic");
    await deployed(what);
    proxy.on(call, fault, always);
    stage.messages.length = 0;
    expect(await stack.refresh("Deployment", what)).toMatchObject({ name: what, checkFailed: true });
    expect(stage.messages.join()).toContain(
      `project ${world.projectId} may serve recommendations, but a gateway answered its check: `,
    );
    proxy.heal();
    expect((await stack.refresh("Deployment", what))?.checkFailed).toBeUndefined();
  });

  test.each<[string, Fault]>([
    ["a 404 of the service", fromService(404, json({ message: "no user u1" }))],
    ["400 project suspended", fromService(400, json({ message: "project suspended" }))],
    ["410", fromService(410, json({ message: "the model is gone" }))],
    ["422", fromService(422, json({ message: "cannot" }))],
    ["success without results", instead(200, json({ results: [] }), { taken: false })],
  ])("reports that it is not live after %s", async (what, fault) => {
    await stack.begin("dynamic");
    await deployed(what);
    proxy.on(call, fault, always);
    expect(await stack.refresh("Deployment", what)).toBeUndefined();
    proxy.heal();
    expect(await stack.refresh("Deployment", what)).toMatchObject({ name: what });
  });

  test.each<[string, Fault]>([
    ["401", rejectWith(401)],
    ["403", instead(403, json({ message: "not yours" }), { taken: false })],
    ["429", rejectWith(429)],
    ["503", rejectWith(503)],
    ["an HTML page with 502", htmlPage(502, { taken: false })],
  ])("fails with an unknown result after %s", async (what, fault) => {
    await stack.begin("plugin");
    await deployed(what);
    proxy.on(call, fault, always);
    expect(await messageOf(stack.refresh("Deployment", what))).toMatch(
      /cannot tell whether the project has a live deployment: /,
    );
  });
});

describe("the check of a new deployment with rollback", () => {
  const submissions = () => proxy.taken.filter(({ call }) => call === "POST /submit-deployment-job").length;
  const declare = (name: string, qps: number) => {
    const { projectId, modelId: generatorModelId } = world;
    const check = { userIds: ["u1"], minResults: 1 };
    return { name, projectId, generatorModelId, qps, check, rollback: true };
  };
  const deployFirst = async (name: string): Promise<void> => {
    await stack.begin("dynamic");
    const { check: _, rollback: __, ...request } = declare(name, 1000);
    await observed.call(routes.submitDeploymentJob, request);
    await observed.service.idle();
    await stack.up("Deployment", name, { ...declare(name, 1000), existingId: world.projectId });
    proxy.clear();
  };

  test.each<[string, Fault]>([
    ["a gateway's page with 503", htmlPage(503, { taken: false })],
    ["a gateway's JSON with 502", instead(502, JSON.stringify({ message: "Bad Gateway" }), { taken: false })],
    ["a router's JSON 404", instead(404, noDeployment, { taken: false })],
  ])("rolls nothing back after %s, and the next run repeats the check", async (name, fault) => {
    await deployFirst(name);
    proxy.on("POST /recommend-items-to-user", fault, always);
    const next = { ...declare(name, 999), existingId: world.projectId };
    expect(await messageOf(stack.up("Deployment", name, next))).toMatch(
      /it is deployed, but its check could not be completed; `pulumi up` repeats it: check\.userIds\[0\]/,
    );
    expect(submissions()).toBe(1);
    proxy.heal();
    expect((await stack.up("Deployment", name, next)).state.checkFailed).toBeUndefined();
    expect(await observed.call(routes.getDeployment, { projectId: world.projectId })).toMatchObject({
      qps: 999,
    });
  });

  test("rolls back if the service itself rejects the call", async () => {
    await deployFirst("rejected");
    proxy.on("POST /recommend-items-to-user", fromService(422, '{"message":"cannot"}'), always);
    const next = { ...declare("rejected", 998), existingId: world.projectId };
    expect(await messageOf(stack.up("Deployment", "rejected", next))).toMatch(
      /rolled back to the previous models/,
    );
    expect(submissions()).toBe(2);
  });
});

test("a 503 about a deployment does not mean that nothing is deployed: the deletion fails", async () => {
  const { projectId, modelId: generatorModelId } = world;
  const request = { name: "stays", projectId, generatorModelId, qps: 1000 };
  await stack.begin("plugin");
  await observed.call(routes.submitDeploymentJob, request);
  await observed.service.idle();
  await stack.up("Deployment", "stays", { ...request, existingId: projectId });
  const fault = instead(503, JSON.stringify({ message: "no live deployment" }), { taken: false });
  proxy.on("DELETE /shutdown-deployment", fault, always);
  expect(await messageOf(stack.destroy("Deployment", "stays"))).toMatch(/503: no live deployment/);
  expect(await observed.call(routes.getDeployment, { projectId })).toMatchObject({ generatorModelId });
});

describe("a wrong page at /healthz", () => {
  const pages: [string, Fault][] = [
    ["HTML with 200", htmlPage(200, { taken: false })],
    ["HTML with 404", htmlPage(404, { taken: false })],
    ["HTML with 500", htmlPage(500, { taken: false })],
    ["a gateway's JSON 403", instead(403, JSON.stringify({ message: "Forbidden" }), { taken: false })],
    ["a gateway's JSON 404", instead(404, noRoute, { taken: false })],
  ];
  const reading = async (name: string): Promise<void> => {
    await stack.begin("dynamic");
    await stack.up("UserDataset", name, { name, numShards: 1 });
    await stack.begin("dynamic");
    proxy.clear();
  };

  test.each(pages)("with %s is read again, so the refresh still reads the dataset", async (what, fault) => {
    await reading(what);
    proxy.on("GET /healthz", fault, { times: 2 });
    expect(await stack.refresh("UserDataset", what)).toMatchObject({ name: what });
    expect(proxy.came).toContain("GET /get-user-dataset");
  });

  test.each(pages)(
    "with %s fails the refresh if it stays, so nothing counts as unchanged",
    async (what, fault) => {
      const name = `${what} that stays`;
      await reading(name);
      proxy.on("GET /healthz", fault, always);
      expect(await messageOf(stack.refresh("UserDataset", name))).toMatch(/GET \/healthz: \d+: /);
    },
  );

  test("is reported in full once, however many resources it concerns", async () => {
    for (const name of ["one", "two", "three"]) await reading(name);
    proxy.on("GET /healthz", htmlPage(404, { taken: false }), always);
    const message: string[] = [];
    for (const name of ["one", "two", "three"])
      message.push(await messageOf(stack.refresh("UserDataset", name)));
    expect(message[0]).toMatch(
      /^GET \/healthz: 404: .* it is unknown whether the service sent this\. Check that /,
    );
    const other = (name: string) =>
      `UserDataset ${name}: /healthz of the service cannot be read; see the error of UserDataset one`;
    expect(message.slice(1)).toEqual([other("two"), other("three")]);
  });

  test("means that a service without idempotency keys has no extensions", async () => {
    proxy.hidesKeys = true;
    try {
      await reading("another service");
      proxy.on("GET /healthz", htmlPage(404, { taken: false }), always);
      expect(await stack.refresh("UserDataset", "another service")).toMatchObject({
        name: "another service",
      });
      expect(proxy.came).not.toContain("GET /get-user-dataset");
    } finally {
      proxy.hidesKeys = false;
    }
  });
});
