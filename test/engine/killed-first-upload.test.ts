import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataDirectoryAt } from "../../service";
import { connect } from "../../service/store/database";
import { FaultProxy } from "../faults/proxy";
import { type Binding, type Kill, KillingGround } from "./killing";
import { ObservedService } from "./observed-service";
import { installPlugin } from "./workspace";

const program = `
const recommender = require("pulumi-recommender");
const users = new recommender.UserDataset("users", { numShards: 1 });
if (!process.env.WITHOUT_RECORDS)
  new recommender.UserRecords("people", { userDatasetId: users.id, source: "users.ndjson", parallel: 1 });
`;

const userLines = (version: string) =>
  Array.from(
    { length: 4000 },
    (_, at) => `${JSON.stringify({ user_id: `u${at}`, attributes: { version } })}\n`,
  ).join("");

/** Call of the kill: after the create of the dataset and two of four batches. */
const inFirstUpload: Kill = { signal: "SIGKILL", target: "engine", moment: { at: 3, phase: "taken" } };

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

/** Returns the number of users of each version in the newest dataset. */
async function versions(): Promise<Record<string, number>> {
  const db = connect(dataDirectoryAt(observed.service.dataDir).database);
  const newest = db.selectFrom("datasets").select((all) => all.fn.max("number").as("number"));
  const rows = await db.selectFrom("records").select("attributes").where("dataset", "=", newest).execute();
  await db.destroy();
  const counts: Record<string, number> = {};
  for (const { attributes } of rows) {
    const { version } = JSON.parse(attributes) as { version: string };
    counts[version] = (counts[version] ?? 0) + 1;
  }
  return counts;
}

/** Returns a stack whose first upload, of version A, was killed on machine `one`. */
async function killedStack(binding: Binding, stack: string) {
  const ground = await KillingGround.make(program, {
    ...observed.environment,
    RECOMMENDER_BASE_URL: proxy.url,
  });
  if (binding === "plugin") await installPlugin(ground.directory);
  const environment = (machine: string) => ({
    RECOMMENDER_BINDING: binding,
    XDG_STATE_HOME: join(ground.directory, machine),
  });
  const write = (version: string) =>
    writeFileSync(join(ground.directory, "users.ndjson"), userLines(version));
  const up = async (machine: string, more: Record<string, string> = {}, kill?: Kill) =>
    ground.run(
      ["up", "--yes", "--skip-preview", "--stack", stack],
      { ...environment(machine), ...more },
      kill && proxy,
      kill,
    );
  await ground.init(stack);
  write("A");
  expect(await up("one", {}, inFirstUpload)).toMatchObject({ struck: true });
  const { A = 0 } = await versions();
  expect(A).toBeGreaterThan(0);
  await ground.run(["cancel", "--yes", "--stack", stack], environment("one"));
  ground.mend(stack);
  return { ground, up, write };
}

describe.each<Binding>(["dynamic", "plugin"])(
  "over the binding %s, a first upload that was killed",
  (binding) => {
    test("is sent again completely after another machine has uploaded and removed the records", async () => {
      const { ground, up, write } = await killedStack(binding, `removed-${binding}`);
      try {
        write("B");
        expect(await up("two")).toMatchObject({ code: 0 });
        expect(await versions()).toEqual({ B: 4000 });
        expect(await up("two", { WITHOUT_RECORDS: "1" })).toMatchObject({ code: 0 });
        write("A");
        expect(await up("one")).toMatchObject({ code: 0 });
        expect(await versions()).toEqual({ A: 4000 });
      } finally {
        await ground.dispose();
      }
    });

    test("is completed by the next run, and the run after that sends nothing", async () => {
      const { ground, up } = await killedStack(binding, `completed-${binding}`);
      try {
        expect((await up("one")).output).toContain("4,000 users uploaded");
        expect(await versions()).toEqual({ A: 4000 });
        expect((await up("one")).output).not.toContain("uploaded");
        expect((await up("two")).output).not.toContain("uploaded");
      } finally {
        await ground.dispose();
      }
    });
  },
);
