import { symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { routes } from "../../contract";
import { FaultProxy, send } from "../faults/proxy";
import { KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { secretsProvider } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
const existingId = process.env.EXISTING;
new recommender[process.env.KIND]("data", { numShards: 1, ...(existingId && { existingId }) });
`;

let observed: ObservedService;
let proxy: FaultProxy;
let ground: KillingGround;
beforeEach(async () => {
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
  ground = await KillingGround.make(program, { ...observed.environment, RECOMMENDER_BASE_URL: proxy.url });
});
afterEach(async () => {
  await ground.dispose();
  await proxy.close();
  await observed.close();
});

type Kind = "UserDataset" | "EventDataset";
const pulumi = async (args: string[], env: Record<string, string> = {}) => {
  const ended = await ground.run(args, { KIND: "EventDataset", ...env });
  return ended;
};
const up = (stack: string, kind: Kind, env: Record<string, string> = {}) =>
  pulumi(["up", "--yes", "--skip-preview", "--stack", stack], { KIND: kind, ...env });
const done = async (command: ReturnType<typeof pulumi>) => {
  const { code, output } = await command;
  expect({ code, output }).toMatchObject({ code: 0 });
  return output;
};
const callOf = { UserDataset: "POST /create-user-dataset", EventDataset: "POST /create-event-dataset" };
const created = (kind: Kind) => proxy.taken.filter(({ call }) => call === callOf[kind]).length;
const datasets = async () => (await observed.call(routes.listEventDatasets, {})).eventDatasets;
const dataOf = (stack: string) =>
  ground.state(stack).resources.find(({ type }) => type.endsWith("Dataset"))?.id;

/** Kills a run at a create, before or after the service has executed it. */
async function killedAt(kind: Kind, isTaken: boolean, env: Record<string, string> = {}): Promise<void> {
  proxy.on(callOf[kind], async ({ response, pass }) => {
    const answer = isTaken ? await pass() : undefined;
    ground.killProvider("SIGKILL");
    if (answer) send(response, answer);
  });
  expect((await up("dev", kind, env)).code).not.toBe(0);
}

test("another stack's dataset of the same name is neither adopted after a lost call nor deleted by a destroy", async () => {
  proxy.hidesKeys = true;
  await ground.init("dev");
  await killedAt("EventDataset", false);
  await ground.init("prod");
  await done(up("prod", "EventDataset"));
  const [ofProd] = await datasets();

  const { code, output } = await up("dev", "EventDataset");
  expect(code).not.toBe(0);
  expect(output).toContain("RECOMMENDER_CREATE_AGAIN=data pulumi up");
  // Stack prod owns the dataset, so it is no candidate.
  expect(output).not.toContain(ofProd?.eventDatasetId);
  await pulumi(["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
  expect(await datasets()).toEqual([ofProd]);
});

test("a delayed or paged list does not lead to a second dataset, and an unowned object is reported with both commands", async () => {
  proxy.hidesKeys = true;
  await ground.init("dev");
  const forget = proxy.on(
    "GET /list-event-datasets",
    async ({ response, pass }) => {
      const { status, headers } = await pass();
      const body = Buffer.from(JSON.stringify({ event_datasets: [] }));
      send(response, { status, headers: { ...headers, "content-length": String(body.length) }, body });
    },
    { times: Number.POSITIVE_INFINITY },
  );
  await killedAt("EventDataset", true);
  const late = await up("dev", "EventDataset");
  expect(late.code).not.toBe(0);
  expect(late.output).toContain("RECOMMENDER_ADOPT=data=ID pulumi up");
  expect(created("EventDataset")).toBe(1);

  forget();
  const [ours] = await datasets();
  const named = await up("dev", "EventDataset");
  const adopt = `${`data=${ours?.eventDatasetId}`}`;
  expect(named.output).toContain(`RECOMMENDER_ADOPT=${adopt} pulumi up`);
  expect(named.output).toContain("RECOMMENDER_CREATE_AGAIN=data pulumi up");
  await done(up("dev", "EventDataset", { RECOMMENDER_ADOPT: adopt }));
  expect(dataOf("dev")).toBe(ours?.eventDatasetId);
  expect(created("EventDataset")).toBe(1);
});

test("the journal is found with any spelling of the backend, after a login and a rename, and never from another backend", async () => {
  const state = join(ground.directory, "state");
  symlinkSync(state, join(ground.directory, "link"));
  await ground.init("dev");
  await killedAt("UserDataset", true, { PULUMI_BACKEND_URL: `file://${ground.directory}/link/` });

  // A stack with the same name and configuration file in another backend.
  const other = join(ground.directory, "other");
  await mkdir(other);
  const login = (directory: string) => pulumi(["login", `file://${directory}`], { PULUMI_BACKEND_URL: "" });
  const loggedIn = { PULUMI_BACKEND_URL: "" };
  await done(login(other));
  await done(pulumi(["stack", "init", "dev", "--secrets-provider", secretsProvider], loggedIn));
  await done(up("dev", "UserDataset", loggedIn));
  expect(created("UserDataset")).toBe(2);

  await done(login(state));
  await done(pulumi(["stack", "rename", "dev2", "--stack", "dev"], loggedIn));
  await done(up("dev2", "UserDataset", loggedIn));
  const keys = proxy.taken.filter(({ call }) => call === callOf.UserDataset).map(({ key }) => key);
  // The call of the killed run was repeated with its key.
  expect(keys).toHaveLength(3);
  expect(keys[2]).toBe(keys[0]);
  expect(keys[1]).not.toBe(keys[0]);
  expect(dataOf("dev2")).toBe(
    JSON.parse(proxy.taken.find(({ key }) => key === keys[0])?.answer ?? "{}").user_dataset_id,
  );
});

test("a new stack with the old name of a renamed stack neither adopts its object nor deletes it", async () => {
  await ground.init("dev");
  await killedAt("EventDataset", true);
  const [ofProd] = await datasets();
  await done(pulumi(["stack", "rename", "prod", "--stack", "dev"]));
  await ground.init("dev");
  await done(up("dev", "EventDataset"));
  expect(dataOf("dev")).not.toBe(ofProd?.eventDatasetId);
  await done(pulumi(["destroy", "--yes", "--skip-preview", "--stack", "dev"]));
  expect(await datasets()).toEqual([ofProd]);

  await done(up("prod", "EventDataset"));
  expect(dataOf("prod")).toBe(ofProd?.eventDatasetId);
  expect(await datasets()).toEqual([ofProd]);
});

test("a dataset that another stack has adopted outlives the stack that created it, and is deleted with the last one", async () => {
  await ground.init("dev");
  await done(up("dev", "EventDataset"));
  const [ofDev] = await datasets();
  await ground.init("prod");
  await done(up("prod", "EventDataset", { EXISTING: ofDev?.eventDatasetId ?? "" }));
  const destroyed = await done(pulumi(["destroy", "--yes", "--skip-preview", "--stack", "dev"]));
  expect(destroyed).toContain(`keeping ${ofDev?.eventDatasetId}: EventDataset data of stack prod uses it`);
  expect(await datasets()).toEqual([ofDev]);
  await done(pulumi(["destroy", "--yes", "--skip-preview", "--stack", "prod"]));
  expect(await datasets()).toEqual([]);
});
