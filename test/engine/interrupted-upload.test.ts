import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { fromService } from "../faults/faults";
import { FaultProxy } from "../faults/proxy";
import { type Binding, type Kill, KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { installPlugin } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
const users = new recommender.UserDataset("users", { numShards: 1 });
if (process.env.BOOM) throw new Error("boom");
new recommender.UserRecords("people", { userDatasetId: users.id, source: "users.ndjson", parallel: 1 });
`;

const userLines = (version: string) =>
  Array.from(
    { length: 4000 },
    (_, at) => `${JSON.stringify({ user_id: `u${at}`, attributes: { version } })}\n`,
  ).join("");

let observed: ObservedService;
let proxy: FaultProxy;
beforeAll(async () => {
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
});
afterAll(async () => {
  await proxy.close();
  await observed.close();
});

/** Returns the number of users in the newest dataset with a different version. */
async function wrong(version: string): Promise<number> {
  const db = connect(dataDirectoryAt(observed.service.dataDir).database);
  const newest = db.selectFrom("datasets").select((all) => all.fn.max("number").as("number"));
  const rows = await db.selectFrom("records").select("attributes").where("dataset", "=", newest).execute();
  await db.destroy();
  return rows.filter(({ attributes }) => JSON.parse(attributes).version !== version).length;
}

const kills: [string, Kill | undefined, machine: string, isRenamed: boolean][] = [
  ["a batch that the service refuses, on the same machine", undefined, "one", false],
  ["a batch that the service refuses, on another machine", undefined, "two", false],
  [
    "Ctrl+C, on another machine",
    { signal: "SIGINT", target: "engine", moment: { at: 2, phase: "taken" } },
    "two",
    false,
  ],
  [
    "SIGKILL, on the same machine",
    { signal: "SIGKILL", target: "engine", moment: { at: 2, phase: "taken" } },
    "one",
    false,
  ],
  [
    "SIGKILL, on another machine",
    { signal: "SIGKILL", target: "engine", moment: { at: 2, phase: "taken" } },
    "two",
    false,
  ],
  [
    "SIGKILL, on another machine after a rename of the stack",
    { signal: "SIGKILL", target: "engine", moment: { at: 2, phase: "taken" } },
    "two",
    true,
  ],
];

/** Ways in which the next run fails before it reaches the records. */
const failures: [string, Record<string, string>][] = [
  ["the program throws an error", { BOOM: "1" }],
  [
    "the service cannot be reached",
    { RECOMMENDER_BASE_URL: "http://127.0.0.1:9", RECOMMENDER_TOKEN_URL: "", RECOMMENDER_CLIENT_SECRET: "" },
  ],
];

/** Makes the service reject the second batch without executing it. */
const refuseSecondBatch = () =>
  proxy.on(
    "POST /upsert-dataset-users",
    fromService(400, JSON.stringify({ message: "no room for these", code: "INVALID_ARGUMENT" })),
    { nth: 2 },
  );

describe.each<Binding>(["dynamic", "plugin"])("over the binding %s", (binding) => {
  test.each(kills)(
    "a source that is reverted after %s is sent again",
    async (name, kill, machine, isRenamed) => {
      const ground = await KillingGround.make(program, {
        ...observed.environment,
        RECOMMENDER_BASE_URL: proxy.url,
      });
      let stack = name.replaceAll(/\W+/g, "-").slice(-30) + binding;
      if (binding === "plugin") await installPlugin(ground.directory);
      try {
        const write = (version: string) =>
          writeFileSync(join(ground.directory, "users.ndjson"), userLines(version));
        const environment = (on: string) => ({
          RECOMMENDER_BINDING: binding,
          XDG_STATE_HOME: join(ground.directory, on),
        });
        const up = (on: string, struck?: Kill) =>
          ground.run(
            ["up", "--yes", "--skip-preview", "--stack", stack],
            environment(on),
            struck && proxy,
            struck,
          );
        await ground.init(stack);
        write("A");
        expect(await up("one")).toMatchObject({ code: 0 });
        expect(await wrong("A")).toBe(0);
        write("B");
        if (!kill) refuseSecondBatch();
        const { struck, code: broken } = await up("one", kill);
        expect(kill ? struck : broken !== 0).toBe(true);
        expect(await wrong("A")).toBeGreaterThan(0);
        write("A");
        await ground.run(["cancel", "--yes", "--stack", stack], environment(machine));
        ground.mend(stack);
        if (isRenamed) {
          const old = stack;
          stack = `renamed-${binding}`;
          const renamed = await ground.run(["stack", "rename", stack, "--stack", old], environment(machine));
          expect(renamed).toMatchObject({ code: 0 });
          // A new stack with the old name has nothing pending.
          await ground.init(old);
        }
        const { code, output } = await up(machine);
        expect({ code, output }).toMatchObject({
          code: 0,
          output: expect.stringContaining("4,000 users uploaded"),
        });
        expect(await wrong("A")).toBe(0);
        expect((await up(machine)).output).not.toContain("uploaded");
      } finally {
        await ground.dispose();
      }
    },
  );

  test.each(failures)(
    "a source that is reverted after SIGKILL is sent again on another machine, even if its first run fails early: %s",
    async (name, failing) => {
      // Like a service of another make, it does not know the last uploads.
      proxy.on("GET /healthz", fromService(404, JSON.stringify({ detail: "no such page" })), {
        times: Number.POSITIVE_INFINITY,
      });
      const ground = await KillingGround.make(program, {
        ...observed.environment,
        RECOMMENDER_BASE_URL: proxy.url,
      });
      const stack = name.replaceAll(/\W+/g, "-") + binding;
      if (binding === "plugin") await installPlugin(ground.directory);
      try {
        const write = (version: string) =>
          writeFileSync(join(ground.directory, "users.ndjson"), userLines(version));
        const up = (on: string, more: Record<string, string> = {}, kill?: Kill) =>
          ground.run(
            ["up", "--yes", "--skip-preview", "--stack", stack],
            { RECOMMENDER_BINDING: binding, XDG_STATE_HOME: join(ground.directory, on), ...more },
            kill && proxy,
            kill,
          );
        await ground.init(stack);
        write("A");
        expect(await up("one")).toMatchObject({ code: 0 });
        write("B");
        const moment = { at: 2, phase: "taken" } as const;
        const { struck } = await up("one", {}, { signal: "SIGKILL", target: "engine", moment });
        expect(struck).toBe(true);
        write("A");
        await ground.run(["cancel", "--yes", "--stack", stack], {});
        ground.mend(stack);
        expect((await up("two", failing)).code).not.toBe(0);
        expect(await up("two")).toMatchObject({
          code: 0,
          output: expect.stringContaining("4,000 users uploaded"),
        });
        expect(await wrong("A")).toBe(0);
        expect((await up("two")).output).not.toContain("uploaded");
      } finally {
        proxy.clear();
        await ground.dispose();
      }
    },
  );
});
