import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../client/clock";
import { readSettings } from "../../../client/settings";
import { routes } from "../../../contract";
import { createOnce } from "../../../provider/recovery/create-once";
import { entriesOf } from "../../../provider/recovery/journal";
import type { UnknownCreationError } from "../../../provider/recovery/unknown-creation";
import type { Context } from "../../../provider/run/context";
import { setBinding } from "../../../provider/run/engine";
import { InitialState, type PendingOperation } from "../../../provider/run/initial-state";
import { seal } from "../../../provider/run/sealed-value";
import { Run } from "../../../provider/run/session";
import { ObservedService } from "../../engine/observed-service";
import { stackState } from "../../faults/bindings";

let observed: ObservedService;
let directory: string;
let warnings: string[];
beforeAll(async () => {
  observed = await ObservedService.start();
  setBinding({
    ...{ connect: () => {}, engineAddress: () => undefined },
    log: async (severity, message) => void (severity === "warn" && warnings.push(message)),
  });
});
afterAll(() => observed.close());
beforeEach(() => {
  warnings = [];
  directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
  process.env.XDG_STATE_HOME = directory;
});
afterEach(() => {
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  delete process.env.RECOMMENDER_ADOPT;
  rmSync(directory, { recursive: true });
});

const urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:EventDataset::events";
const request = { name: "events", numShards: 1, attributeSchema: null };
const args = { name: "events", numShards: 1, attributeSchema: undefined };
const note = (inputs: object = {}, isCreate = true): PendingOperation => ({
  ...{ urn, isCreate, digest: "d" },
  inputs: { name: "events", numShards: 1, __journal: "of another machine", ...inputs },
});

/** Creates an event dataset, in a state with notes of killed operations. */
const create = async (pending: readonly PendingOperation[], isCreate = true, placeholder?: string) => {
  const settings = readSettings((key) => observed.config[`recommender:${key}`], {});
  const initial = new InitialState(async () => ({ pending, lineage: "dev" }));
  const run = new Run(
    stackState(async () => []),
    new AbortController().signal,
    initial,
  );
  if (placeholder) run.placeholders.set(urn, placeholder);
  const context: Context = {
    ...{ settings, client: observed.client, clock: systemClock, run, urn, title: "EventDataset events" },
    step: { isCreate, args },
  };
  const { reply } = await createOnce(context, {
    route: routes.createEventDataset,
    request,
    idOf: ({ eventDatasetId }) => eventDatasetId,
    findLost: {
      name: "event datasets",
      list: async () => (await observed.call(routes.listEventDatasets, {})).eventDatasets,
      match: (found) => found,
    },
    adopt: async (eventDatasetId) => ({ eventDatasetId, ...request }),
  });
  return reply.eventDatasetId;
};
const asked = (...given: Parameters<typeof create>): Promise<UnknownCreationError> =>
  create(...given).then(
    () => Promise.reject(new Error("it went through")),
    (error) => error,
  );
const count = async () => (await observed.call(routes.listEventDatasets, {})).eventDatasets.length;

test("a create that was killed on another machine is neither repeated nor adopted without the user's decision", async () => {
  const { eventDatasetId } = await observed.call(routes.createEventDataset, request);
  const before = await count();
  const error = await asked([note()]);
  expect(error.message).toContain("killed during this call on another machine");
  expect(error.message).toContain(`RECOMMENDER_ADOPT=events=${eventDatasetId} pulumi up`);
  expect(error.message).toContain("RECOMMENDER_CREATE_AGAIN=events pulumi up");
  expect(error.message).toContain("pulumi refresh --clear-pending-creates");
  // The engine keeps its note, and a placeholder would outlive a refresh.
  expect(error.placeholder).toBeUndefined();
  await asked([note()]);
  expect(await count()).toBe(before);

  process.env.RECOMMENDER_ADOPT = `events=${eventDatasetId}`;
  expect(await create([note()])).toBe(eventDatasetId);
  expect(entriesOf(urn, "dev")).toMatchObject([{ id: eventDatasetId }]);
  expect(await count()).toBe(before);
});

test("RECOMMENDER_CREATE_AGAIN settles the note on this machine", async () => {
  process.env.RECOMMENDER_CREATE_AGAIN = "events";
  const first = await create([note()]);
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  rmSync(join(directory, "pulumi-recommender/creations"), { recursive: true });
  expect(await create([note()])).not.toBe(first);
});

test("a secret argument of the killed create may be equal, so the run asks", async () => {
  expect((await asked([note({ name: seal("ciphertext") })])).name).toBe("UnknownCreationError");
});

test("a killed create with certainly different arguments causes a warning, and the object is created", async () => {
  await create([note({ numShards: 2 })]);
  expect(warnings).toEqual([
    expect.stringMatching(/different arguments; if so, the object that it created is orphaned/),
  ]);
});

test("a killed update that submits a job asks once more in every run, because its placeholder is in the state", async () => {
  const before = await count();
  const error = await asked([note({}, false)], false);
  expect(error.message).not.toContain("--clear-pending-creates");
  expect(error.placeholder).toMatch(/^unknown-noted-/);
  // The service honours keys, but the key of the killed call is unknown.
  for (let run = 0; run < 2; run++)
    expect((await asked([], false, error.placeholder)).message).toContain("on another machine");
  expect(await count()).toBe(before);
  process.env.RECOMMENDER_CREATE_AGAIN = "events";
  await create([], false, error.placeholder);
  expect(await count()).toBe(before + 1);
});

test("the note of an update does not stop a create, and the note of a create does not stop an update", async () => {
  await create([note({}, false)]);
  rmSync(join(directory, "pulumi-recommender/creations"), { recursive: true });
  await create([note()], false);
});
