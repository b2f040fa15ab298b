import { routes } from "../../contract";
import { FaultProxy, send } from "../faults/proxy";
import { type Binding, KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { installPlugin } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
const existingId = process.env.EXISTING_USERS;
new recommender.UserDataset("users", { numShards: 1, ...(existingId && { existingId }) });
new recommender.EventDataset("events", { numShards: 1 });
`;

let observed: ObservedService;
let proxy: FaultProxy;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
  proxy.hidesKeys = true;
  ground = await KillingGround.make(program, { ...observed.environment, RECOMMENDER_BASE_URL: proxy.url });
  await installPlugin(ground.directory);
});
afterAll(async () => {
  await ground.dispose();
  await proxy.close();
  await observed.close();
});

test("without idempotency keys, a run after a kill asks about the candidates and never creates an object twice", async () => {
  const up = (RECOMMENDER_BINDING: Binding, env: Record<string, string> = {}) =>
    ground.run(["up", "--yes", "--skip-preview"], { RECOMMENDER_BINDING, ...env });
  const made = (call: string) => proxy.taken.filter((taken) => taken.call === call);
  await ground.init("unkeyed");

  // The responses are delayed until both datasets exist, and then the run is killed.
  let both: () => void;
  const bothMade = new Promise<void>((resolve) => {
    both = resolve;
  });
  const holds = (["user", "event"] as const).map((kind) =>
    proxy.on(`POST /create-${kind}-dataset`, async ({ response, pass }) => {
      const answer = await pass();
      if (made("POST /create-user-dataset").length + made("POST /create-event-dataset").length === 2) {
        ground.killProvider("SIGKILL");
        both();
      }
      await bothMade;
      send(response, answer);
    }),
  );
  expect((await up("dynamic")).code).not.toBe(0);
  for (const release of holds) release();

  const asked = await up("plugin");
  expect(asked.code).not.toBe(0);
  expect(asked.output).toMatch(/The outcome of POST \/create-user-dataset is unknown/);
  expect(asked.output).toMatch(/The outcome of POST \/create-event-dataset is unknown/);
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  const [events] = eventDatasets;
  expect(asked.output).toContain(`RECOMMENDER_ADOPT=events=${events?.eventDatasetId} pulumi up`);
  expect(asked.output).toContain("RECOMMENDER_CREATE_AGAIN=events pulumi up");

  const [taken] = made("POST /create-user-dataset");
  const adopted = await up("dynamic", {
    EXISTING_USERS: JSON.parse(taken?.answer ?? "").user_dataset_id,
    RECOMMENDER_ADOPT: `events=${events?.eventDatasetId}`,
  });
  expect({ code: adopted.code, output: adopted.output }).toMatchObject({ code: 0 });
  // The plugin deletes the placeholder, and the dynamic provider knows which call it replaced.
  expect(adopted.output).not.toContain("orphaned");
  expect(made("POST /create-user-dataset")).toHaveLength(1);
  expect(made("POST /create-event-dataset")).toHaveLength(1);
  expect(ground.state("unkeyed").resources.map(({ id }) => id)).toContain(eventDatasets[0]?.eventDatasetId);
});
