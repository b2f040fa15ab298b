import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../client/clock";
import { readSettings } from "../../client/settings";
import { routes } from "../../contract";
import { InitialState } from "../../provider/run/initial-state";
import { Run, useSession } from "../../provider/run/session";
import type { Properties } from "../../provider/run/state-entry";
import { userRecords } from "../../provider/user-records";
import { ObservedService } from "../engine/observed-service";
import { stackState } from "../faults/bindings";

const directory = mkdtempSync(join(tmpdir(), "recommender-unrecorded-"));
let observed: ObservedService;
let userDatasetId: string;
beforeAll(async () => {
  observed = await ObservedService.start();
});
afterAll(async () => {
  await observed.close();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  const request = { name: "users", numShards: 1, attributeSchema: null };
  ({ userDatasetId } = await observed.call(routes.createUserDataset, request));
});

/** Row of a resource in the state. */
interface Row {
  readonly id: string;
  readonly outs: Properties;
}

/** Starts a run on a machine, without notes of the engine about killed runs, and checks the resource. */
async function begin(machine: string, name: string, version: string): Promise<Properties> {
  process.env.XDG_STATE_HOME = join(directory, machine);
  const settings = readSettings((key) => observed.config[`recommender:${key}`], {});
  const initial = new InitialState(async () => ({ pending: [] }));
  const run = new Run(
    stackState(async () => []),
    new AbortController().signal,
    initial,
  );
  useSession({ settings, client: observed.client, clock: systemClock, run });
  await userRecords.configure({ config: { get: (key: string) => observed.config[key] } });
  const source = join(directory, `${name}.ndjson`);
  writeFileSync(source, `${JSON.stringify({ user_id: "u", attributes: { version } })}\n`);
  const __urn = `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:UserRecords::${name}`;
  const given = { userDatasetId, source, rejectsFile: join(directory, "rejects"), __urn };
  return (await userRecords.check({}, given)).inputs;
}
const create = async (machine: string, name: string, version: string): Promise<Row> =>
  userRecords.create(await begin(machine, name, version));
const update = async (machine: string, name: string, version: string, { id, outs }: Row): Promise<Row> => ({
  id,
  ...(await userRecords.update(id, outs, await begin(machine, name, version))),
});
const isDue = async (machine: string, name: string, version: string, { id, outs }: Row) =>
  (await userRecords.diff(id, outs, await begin(machine, name, version))).changes;

test("an upload that the state never recorded is found on another machine, even if the engine has dropped its note", async () => {
  const recorded = await create("one", "people", "a");
  expect(await isDue("two", "people", "a", recorded)).toBe(false);
  // The engine is killed before it records the end of this upload, and the source is reverted.
  await update("one", "people", "b", recorded);
  expect(await isDue("two", "people", "a", recorded)).toBe(true);
  const sent = await update("two", "people", "a", recorded);
  for (const machine of ["one", "two"]) expect(await isDue(machine, "people", "a", sent)).toBe(false);
});

test("an upload of another machine that the state never recorded is replaced completely, even by the machine of the recorded upload", async () => {
  const recorded = await create("one", "people", "a");
  await update("two", "people", "b", recorded);
  observed.calls();
  const sent = await update("one", "people", "a", recorded);
  expect(observed.calls()).toContain("POST /upsert-dataset-users");
  for (const machine of ["one", "two"]) expect(await isDue(machine, "people", "a", sent)).toBe(false);
});

test("an upload that the state never recorded is found after uploads of another source, which changes nothing by itself", async () => {
  const recorded = await create("one", "people", "a");
  const other = await create("two", "others", "x");
  const changed = await update("two", "others", "y", other);
  expect(await isDue("two", "people", "a", recorded)).toBe(false);
  await update("one", "people", "b", recorded);
  const again = await update("two", "others", "z", changed);
  expect(await isDue("two", "people", "a", recorded)).toBe(true);
  expect(await isDue("two", "others", "z", again)).toBe(false);
});

test("a diff fails if the service cannot say whether another machine has uploaded records since", async () => {
  const recorded = await create("one", "people", "a");
  const inputs = await begin("two", "people", "a");
  const failing = jest.spyOn(observed.client, "call").mockRejectedValue(new Error("read-only database"));
  try {
    await expect(userRecords.diff(recorded.id, recorded.outs, inputs)).rejects.toThrow("read-only database");
  } finally {
    failing.mockRestore();
  }
});

test("records of a deleted dataset are not reported as unchanged", async () => {
  const recorded = await create("one", "people", "a");
  const deleted = { ...recorded, id: "user-dataset-404" };
  expect(await isDue("two", "people", "a", deleted)).toBe(true);
});
