import { routes } from "../../contract";
import { ObservedService } from "../engine/observed-service";
import { Folder } from "../records/folder";
import { Carriers, carrierNames } from "./carriers";
import { htmlPage, instead, noRoute, refuse } from "./faults";
import { type Fault, FaultProxy, send } from "./proxy";
import { LocalStack } from "./runs";
import { makeWorld, type Scene, scenes, type World } from "./scenes";

jest.setTimeout(300_000);
const always = { times: Number.POSITIVE_INFINITY };
const folder = new Folder();
const carriers = new Carriers();
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;
let all: Scene[];

beforeAll(async () => {
  observed = await ObservedService.start({ planShards: 100_000 });
  proxy = await FaultProxy.start(observed.service);
  const { url } = proxy;
  const addresses = { "recommender:baseUrl": url, "recommender:tokenUrl": `${url}/oauth/token` };
  stack = new LocalStack({ ...observed.config, ...addresses }, carriers);
  world = await makeWorld(observed);
  all = scenes(observed, stack, world, folder);
});
afterAll(async () => {
  await stack.close();
  carriers.close();
  await proxy.close();
  await observed.close();
  folder.remove();
});
beforeEach(() => proxy.clear());

const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "it succeeded",
    (error: Error) => error.message,
  );

/** The ids of what a call is about, as an error names them. */
const named = /the response did not come from the service, so it is unknown whether \w+_id \S+ exists/;

test("no operation takes a gateway's 404 for an answer: each fails, and the next run does it once", async () => {
  for (const [at, scene] of all.entries()) {
    const { call } = scene;
    const carrier = carrierNames[at % 2] as (typeof carrierNames)[number];
    proxy.clear();
    await stack.begin(carrier);
    const act = await scene.prepare(`g${at}`);
    await stack.begin(carrier);
    const heal = proxy.on(call, instead(404, noRoute, { taken: false }), always);
    const said = await messageOf(act.act());
    expect({ call, said, done: await act.done() }).toEqual({
      call,
      said: expect.stringMatching(/404: no Route matched/),
      done: 0,
    });
    if (call.startsWith("DELETE") || call.startsWith("GET /get-"))
      expect({ call, said }).toEqual({ call, said: expect.stringMatching(named) });
    heal();
    await stack.begin(carrier);
    expect({ call, said: await messageOf(act.act()), done: await act.done() }).toEqual({
      call,
      said: "it succeeded",
      done: 1,
    });
  }
});

/** A service that says only "Not Found" of what it does not have. */
const terse: Fault = async ({ response, pass }) => {
  const answer = await pass();
  const body = Buffer.from(JSON.stringify({ message: "Not Found" }));
  send(response, answer.status === 404 ? { ...answer, body } : answer);
};

test("a service whose 404 names nothing is believed if its list lacks the object and its other objects are found", async () => {
  for (const carrier of carrierNames) {
    proxy.clear();
    await stack.begin(carrier);
    const name = `terse-${carrier}`;
    const { id } = await stack.up("EventDataset", name, { name, numShards: 1 });
    proxy.on("*", terse, always);
    expect(await stack.refresh("EventDataset", name)).toMatchObject({ name });
    await observed.call(routes.deleteEventDataset, { eventDatasetId: id });
    await stack.begin(carrier);
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
    ["a gateway's JSON 404", instead(404, noRoute, { taken: false })],
    ["a 404 of the service", instead(404, json({ message: "no user u1" }), { taken: false })],
    ["400 project suspended", instead(400, json({ message: "project suspended" }), { taken: false })],
    ["410", instead(410, json({ message: "gone" }), { taken: false })],
    ["422", instead(422, json({ message: "cannot" }), { taken: false })],
    ["a redirect", instead(302, "", { taken: false, headers: { location: "/login" } })],
    ["success without results", instead(200, json({ results: [] }), { taken: false })],
  ])("finds that it does not serve after %s", async (what, fault) => {
    await stack.begin("dynamic");
    await deployed(what);
    proxy.on(call, fault, always);
    expect(await stack.refresh("Deployment", what)).toBeUndefined();
    proxy.heal();
    expect(await stack.refresh("Deployment", what)).toMatchObject({ name: what });
  });

  test.each<[string, Fault]>([
    ["401", refuse(401)],
    ["403", instead(403, json({ message: "not yours" }), { taken: false })],
    ["429", refuse(429)],
    ["503", refuse(503)],
    ["an HTML page with 502", htmlPage(502, { taken: false })],
  ])("says that it cannot know after %s", async (what, fault) => {
    await stack.begin("plugin");
    await deployed(what);
    proxy.on(call, fault, always);
    expect(await messageOf(stack.refresh("Deployment", what))).toMatch(/cannot know whether it serves: /);
  });
});
