import { rmSync } from "node:fs";
import { join } from "node:path";
import { routes } from "../../contract";
import { FaultProxy } from "../faults/proxy";
import { type Binding, type Kill, KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { installPlugin } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
const numShards = Number(process.env.SHARDS || 1);
if (!process.env.WITHOUT_EVENTS) new recommender.EventDataset("events", { numShards });
`;

let observed: ObservedService;
let proxy: FaultProxy;
let ground: KillingGround;
beforeEach(async () => {
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
  ground = await KillingGround.make(program, { ...observed.environment, RECOMMENDER_BASE_URL: proxy.url });
  await ground.init("dev");
});
afterEach(async () => {
  await ground.dispose();
  await proxy.close();
  await observed.close();
});

const pulumi = (args: string[], machine: string, env: Record<string, string> = {}, kill?: Kill) =>
  ground.run(
    [...args, "--yes", "--stack", "dev"],
    { XDG_STATE_HOME: join(ground.directory, machine), ...env },
    kill && proxy,
    kill,
  );
const up = (machine: string, env: Record<string, string> = {}, kill?: Kill) =>
  pulumi(["up", "--skip-preview"], machine, env, kill);
const created = () => proxy.taken.filter(({ call }) => call === "POST /create-event-dataset").length;
const datasets = async () => (await observed.call(routes.listEventDatasets, {})).eventDatasets;

/** Kills the engine after the service has created a dataset. */
async function killedAtCreate(machine: string, env: Record<string, string> = {}): Promise<void> {
  const moment = { at: 1, phase: "taken" } as const;
  expect(await up(machine, env, { signal: "SIGKILL", target: "engine", moment })).toMatchObject({
    struck: true,
  });
  await pulumi(["cancel"], machine);
  ground.mend("dev");
}

test.each<Binding>(["dynamic", "plugin"])(
  "over the binding %s, a create that was killed on a discarded machine is not repeated: the next machine asks, once",
  async (RECOMMENDER_BINDING) => {
    if (RECOMMENDER_BINDING === "plugin") await installPlugin(ground.directory);
    const env = { RECOMMENDER_BINDING };
    await killedAtCreate("one", env);
    const [made] = await datasets();
    rmSync(join(ground.directory, "one"), { recursive: true, force: true });

    for (let run = 0; run < 2; run++) {
      const { code, output } = await up("two", env);
      expect(code).not.toBe(0);
      expect(output).toContain(`RECOMMENDER_ADOPT=events=${made?.eventDatasetId} pulumi up`);
      expect(output).toContain("RECOMMENDER_CREATE_AGAIN=events pulumi up");
      expect(output).toContain("pulumi refresh --clear-pending-creates");
    }
    expect(created()).toBe(1);
    const adopting = { ...env, RECOMMENDER_ADOPT: `events=${made?.eventDatasetId}` };
    expect(await up("two", adopting)).toMatchObject({ code: 0 });
    expect(await datasets()).toEqual([made]);

    // The engine keeps its note, but the create is settled: on every machine while the resource is in the state.
    expect(await up("three", { ...env, SHARDS: "2" })).toMatchObject({ code: 0 });
    expect(await up("three", env)).toMatchObject({ code: 0 });
    expect(ground.state("dev").pending).toHaveLength(1);
    // After its deletion, on every machine that has seen it there.
    expect(await up("four", { ...env, WITHOUT_EVENTS: "1" })).toMatchObject({ code: 0 });
    expect(await up("four", env)).toMatchObject({ code: 0 });
    expect(await pulumi(["destroy", "--skip-preview"], "four", env)).toMatchObject({ code: 0 });
    expect(await up("four", env)).toMatchObject({ code: 0 });
    expect(await datasets()).toHaveLength(1);
  },
);

test("a replacement that was killed on a discarded machine is not repeated", async () => {
  expect(await up("one")).toMatchObject({ code: 0 });
  await killedAtCreate("one", { SHARDS: "2" });
  const asked = await up("two", { SHARDS: "2" });
  expect(asked.code).not.toBe(0);
  expect(asked.output).toContain("killed during this call on another machine");
  expect(created()).toBe(2);
  // The journal of the first machine knows the call, and the service returns what it created.
  expect(await up("one", { SHARDS: "2" })).toMatchObject({ code: 0 });
  expect(await datasets()).toMatchObject([{ numShards: 2 }]);
});

test("a refresh that clears the pending creates answers the question", async () => {
  await killedAtCreate("one");
  expect(await pulumi(["refresh", "--skip-preview", "--clear-pending-creates"], "two")).toMatchObject({
    code: 0,
  });
  expect(await up("two")).toMatchObject({ code: 0 });
});
