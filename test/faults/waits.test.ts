import { unsealed } from "../../provider/plugin/values";
import { ObservedService } from "../engine/observed-service";
import { TestDirectory } from "../records/test-directory";
import { type BindingName, Bindings, bindingNames } from "./bindings";
import { cutJson, cutReply, htmlPage, rejectWith, resetBefore, stall, stillRunning, whole } from "./faults";
import { FaultProxy } from "./proxy";
import { LocalStack } from "./runs";
import { makeWorld, type World } from "./scenes";
import { troubles } from "./troubles";

const directory = new TestDirectory();
const bindings = new Bindings();
let observed: ObservedService;
let proxy: FaultProxy;
let stack: LocalStack;
let world: World;

beforeAll(async () => {
  observed = await ObservedService.start({ faults: true });
  proxy = await FaultProxy.start(observed.service);
  stack = new LocalStack(
    {
      ...observed.config,
      "recommender:baseUrl": proxy.url,
      "recommender:tokenUrl": `${proxy.url}/oauth/token`,
    },
    bindings,
  );
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

const submissions = () => proxy.came.filter((call) => call.includes("/submit-"));
let number = 0;
/** Starts a clustering job and waits for it. */
async function cluster(): Promise<unknown> {
  const { projectId, modelId } = world;
  const args = {
    name: `c${number++}`,
    projectId,
    modelId,
    clusterType: "user",
    parameters: { minUserNum: 1 },
  };
  const { id } = await stack.up("ClusteringJob", args.name, args);
  const { state } = await stack.up("UserClustering", args.name, { ...args, submittedJobId: id });
  // Anyone with the address can read the result, so the plugin stores it as a secret.
  return unsealed(state).downloadUrl;
}

test.each(
  Object.entries(troubles).map(
    ([what, trouble], at) => [what, bindingNames[at % 2] as BindingName, trouble] as const,
  ),
)("a wait continues after %s with the binding %s", async (_, binding, trouble) => {
  const fault = trouble.fault(stack);
  await stack.begin(binding, fault === stall ? { bodyMs: 200 } : {});
  proxy.on("GET /get-job", stillRunning, { times: 2 });
  proxy.on("GET /get-job", fault, { times: trouble.lasts ? Number.POSITIVE_INFINITY : 1 });
  expect(await cluster()).toMatch(/^http/);
  expect(proxy.came.filter((call) => call === "GET /get-job").length).toBeGreaterThanOrEqual(3);
  expect(submissions()).toHaveLength(1);
});

test("a wait continues if only every fourth poll gets a response", async () => {
  await stack.begin("plugin");
  let looks = 0;
  proxy.on(
    "GET /get-job",
    async (passage) => {
      const harm = [rejectWith(429), resetBefore, htmlPage(503, { taken: true })][looks++ % 4];
      await (harm ?? (looks < 16 ? stillRunning : whole))(passage);
    },
    { times: Number.POSITIVE_INFINITY },
  );
  expect(await cluster()).toMatch(/^http/);
  expect(submissions()).toHaveLength(1);
});

test("after a timeout the job is kept, and the next run waits for it without a new submission", async () => {
  const { projectId, algorithmId } = world;
  const short = new LocalStack(
    {
      ...observed.config,
      "recommender:baseUrl": proxy.url,
      "recommender:trainingTimeout": "10ms",
    },
    bindings,
  );
  await short.begin("dynamic");
  await observed.holdJobs();
  const args = { name: "slow", projectId, algorithmId };
  const { id } = await short.up("TrainingJob", "slow", { ...args, triggers: [] });
  const model = { ...args, submittedJobId: id };
  await expect(short.up("Model", "slow", model)).rejects.toThrow(/is still .* does not submit it again/);
  await observed.releaseJobs();
  const patient = new LocalStack({ ...observed.config, "recommender:baseUrl": proxy.url }, bindings);
  await patient.begin("plugin");
  expect((await patient.up("Model", "slow", model)).state.trainingJobId).toBe(id);
  expect(submissions()).toEqual(["POST /submit-training-job"]);
});

test.each([
  ["429", rejectWith(429)],
  ["503", rejectWith(503)],
  ["a reset", resetBefore],
  ["an HTML page with 502", htmlPage(502, { taken: false })],
  ["a reply broken off", cutReply],
  ["a reply whose JSON breaks off", cutJson],
])("a token is requested again after %s", async (_, fault) => {
  await stack.begin("plugin");
  proxy.on("POST /oauth/token", fault);
  expect(await cluster()).toMatch(/^http/);
  expect(submissions()).toHaveLength(1);
});

test("an HTML page instead of the first response fails immediately, because the address may be wrong", async () => {
  proxy.on("GET /list-event-datasets", htmlPage(200, { taken: false }), { times: Number.POSITIVE_INFINITY });
  await stack.begin("plugin");
  const before = stack.clock.now();
  const adopted = { name: "events", numShards: 1, existingId: world.eventDatasetId };
  await expect(stack.up("EventDataset", "events", adopted)).rejects.toThrow(
    /GET \/list-event-datasets: returned 200, but an HTML page titled \\"Bad day\\" came instead of JSON"/,
  );
  expect(stack.clock.now()).toBe(before);
});
