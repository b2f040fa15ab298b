import { join } from "node:path";
import Database from "libsql";
import { allowPerSecond } from "../faults/faults";
import { type Fault, FaultProxy } from "../faults/proxy";
import { KillingGround } from "./killing";
import { ObservedService } from "./observed-service";

/** 200 resources: 40 times a dataset of each kind, a project with them, and an algorithm. */
const program = `
const recommender = require("pulumi-recommender");
for (let n = 0; n < 40; n++) {
  const users = new recommender.UserDataset("users" + n, { numShards: 1 });
  const items = new recommender.ItemDataset("items" + n, { numShards: 1 });
  const events = new recommender.EventDataset("events" + n, { numShards: 1 });
  const project = new recommender.Project("project" + n, {
    userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "buy",
  });
  new recommender.Algorithm("algorithm" + n, { projectId: project.id });
}
`;

let observed: ObservedService;
let proxy: FaultProxy;
let ground: KillingGround;
beforeAll(async () => {
  observed = await ObservedService.start({ planShards: 1000 });
  proxy = await FaultProxy.start(observed.service);
  ground = await KillingGround.make(program, { ...observed.environment, RECOMMENDER_BASE_URL: proxy.url });
});
afterAll(async () => {
  await ground.dispose();
  await proxy.close();
  await observed.close();
});

/** Delays the first calls until a number of them has arrived, because a slow machine would stay below the limit. */
function gathering(count: number): () => Promise<void> {
  let come = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    if (++come === count) open();
    return opened;
  };
}

test("200 concurrent creates with a limit of 20 calls per second all succeed, none twice", async () => {
  await ground.init("many");
  const [limit, gathered] = [allowPerSecond(20), gathering(45)];
  const fault: Fault = async (passage) => {
    if (passage.call.startsWith("POST /create-")) await gathered();
    await limit(passage);
  };
  proxy.on("*", fault, { times: Number.POSITIVE_INFINITY });
  const { code, output } = await ground.run(["up", "--yes", "--skip-preview", "--parallel", "64"], {});
  expect({ code, output }).toMatchObject({ code: 0 });

  const refused = proxy.came.length - proxy.taken.length;
  expect(refused).toBeGreaterThan(0);
  const database = new Database(join(observed.service.dataDir, "data.db"), { readonly: true });
  const ids = ["datasets", "projects", "algorithms"].flatMap(
    (table) => database.prepare(`select id from ${table}`).all() as { id: string }[],
  );
  database.close();
  expect(ids).toHaveLength(200);
  const kept = ground
    .state("many")
    .resources.flatMap(({ type, id }) => (/recommender:/.test(type) ? [id] : []));
  expect(kept.sort()).toEqual(ids.map(({ id }) => id).sort());
});
