import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../../client/state-directory";
import { routes } from "../../../contract";
import { entriesOf, type JournalEntry, write } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { Bindings, bindingNames } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { keyOf, newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";

let observed: ObservedService;
let engine: SmallEngine;
let directory: string;
const messages: string[] = [];
const bindings = new Bindings((_, message) => messages.push(message));
beforeAll(async () => {
  observed = await ObservedService.start();
});
afterAll(async () => {
  bindings.close();
  await observed.close();
});
beforeEach(() => {
  messages.length = 0;
  directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
  process.env.XDG_STATE_HOME = directory;
  engine = new SmallEngine(newStack(), { url: observed.service.url, key: observed.service.key }, bindings);
});
afterEach(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

const users: Declared = { kind: "UserDataset", name: "users", args: () => ({ name: "users", numShards: 1 }) };
const events: Declared = { ...users, kind: "EventDataset", name: "events" };
const request = { name: "users", numShards: 1, attributeSchema: null };

/** Journal entry of a killed run. */
const entry = (more: Partial<JournalEntry> = {}): JournalEntry => ({
  ...{ urn: engine.urnOf(users), service: observed.service.url, path: "/create-user-dataset" },
  ...{ identity: digest(request), key: randomUUID(), derived: false, request, lineage: engine.stack },
  ...{ at: new Date().toISOString(), pid: 999_999_999, host: hostname() },
  ...more,
});

const created = () => observed.calls().filter((call) => call === "POST /create-user-dataset").length;

test("the create of a killed run is resumed and then erased from the journal, even if the next run is killed too", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  await write(entry({ id: userDatasetId, reply: { userDatasetId } }));
  engine.programHears = false;
  observed.calls();
  expect(await engine.up([users])).toEqual([]);
  expect([engine.of("UserDataset", "users").id, created()]).toEqual([userDatasetId, 0]);
  expect(messages.join()).toContain("which an interrupted run created");
  expect(entriesOf(engine.urnOf(users))).toHaveLength(1);
  expect(await engine.up([users])).toEqual([]);
  expect(entriesOf(engine.urnOf(users))).toEqual([]);
});

test("a schema that is added to a dataset resumed without one is detected", async () => {
  engine.programHears = false;
  expect(await engine.up([events])).toEqual([]);
  engine.held.clear();
  expect(await engine.up([events])).toEqual([]);
  expect(messages.join()).toContain("which an interrupted run created");
  const eventDatasetId = engine.of("EventDataset", "events").id as string;
  const attributeSchema = { age: "NUMERICAL" } as const;
  await observed.call(routes.updateEventDataset, { eventDatasetId, name: "users", attributeSchema });
  await engine.refresh();
  expect(engine.of("EventDataset", "events").attributeSchema).toEqual(attributeSchema);
});

test("a lost call is repeated once with its key", async () => {
  const key = randomUUID();
  const made = await observed.client.call(routes.createUserDataset, request, { idempotencyKey: key });
  await write(entry({ key }));
  expect(await engine.up([users])).toEqual([]);
  expect(engine.of("UserDataset", "users").id).toBe(made.userDatasetId);
});

test("a lost call in the state with an old key leads to a question, on any machine", async () => {
  const [at, identity] = [Date.now() - 30 * 3_600_000, digest(request)];
  const state = { ...request, __urn: engine.urnOf(users) };
  engine.held.set("UserDataset users", {
    ...{ kind: "UserDataset", name: "users", inputs: state, state, binding: "dynamic" },
    ...{ broken: true, dependencies: [] },
    id: `unknown-${randomUUID()}.${identity}.${at}`,
  });
  observed.calls();
  const [error] = await engine.up([users]);
  expect(error?.message).toContain("existingId");
  expect(created()).toBe(0);
});

test("an old key, which the service may have dropped, leads to a question", async () => {
  await write(entry({ at: new Date(Date.now() - 30 * 3_600_000).toISOString() }));
  observed.calls();
  const [error] = await engine.up([users]);
  expect(error?.message).toMatch(/was interrupted before the response.*existingId/);
  expect(created()).toBe(0);
});

test("an object of another resource is never a candidate for a lost call, even with equal arguments", async () => {
  const twin = { ...events, name: "twin" };
  const { eventDatasetId } = await observed.call(routes.createEventDataset, request);
  const begun = { path: "/create-event-dataset", before: [] };
  await write(entry({ ...begun, urn: engine.urnOf(events), id: eventDatasetId, reply: { eventDatasetId } }));
  await write(
    entry({
      ...begun,
      urn: engine.urnOf(twin),
      at: new Date(Date.now() - 30 * 3_600_000).toISOString(),
    }),
  );
  const [error] = await engine.up([events, twin]);
  expect(error?.message).toMatch(/^EventDataset twin: .*RECOMMENDER_CREATE_AGAIN=twin pulumi up/);
  expect(error?.message).not.toContain(eventDatasetId);
  process.env.RECOMMENDER_CREATE_AGAIN = "twin";
  expect(await engine.up([events, twin])).toEqual([]);
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  expect(engine.of("EventDataset", "events").id).toBe(eventDatasetId);
  expect(engine.of("EventDataset", "twin").id).not.toBe(eventDatasetId);
});

test("a run waits for a process of the killed run that is still sending the call", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  const alive = entry({ pid: process.ppid });
  await write(alive);
  setTimeout(() => write({ ...alive, id: userDatasetId, reply: { userDatasetId } }), 100);
  observed.calls();
  expect(await engine.up([users])).toEqual([]);
  expect([engine.of("UserDataset", "users").id, created()]).toEqual([userDatasetId, 0]);
});

test("entries of other services and resources are ignored", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  const done = { id: userDatasetId, reply: { userDatasetId } };
  await write(entry({ ...done, service: "http://127.0.0.1:9" }));
  await write(entry({ ...done, urn: engine.urnOf({ kind: "UserDataset", name: "others" }) }));
  expect(await engine.up([users])).toEqual([]);
  expect(engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
});

test("a forced replacement creates a new object, because the state contains the first", async () => {
  expect(await engine.up([users, events])).toEqual([]);
  const before = [engine.of("UserDataset", "users").id, engine.of("EventDataset", "events").id];
  expect(await engine.up([users, events], { replace: [users, events].map(keyOf) })).toEqual([]);
  const after = [engine.of("UserDataset", "users").id, engine.of("EventDataset", "events").id];
  expect(after.filter((id) => before.includes(id))).toEqual([]);
  const { eventDatasets } = await observed.call(routes.listEventDatasets, {});
  expect(eventDatasets.map(({ eventDatasetId }) => eventDatasetId)).toContain(after[1]);
  expect(eventDatasets.map(({ eventDatasetId }) => eventDatasetId)).not.toContain(before[1]);
});

test.each(bindingNames)(
  "a replacement creates a new object if the state has the first one, even if the journal still has it: %s",
  async (binding) => {
    engine.programHears = false;
    engine.binding = binding;
    expect(await engine.up([events])).toEqual([]);
    const { id } = engine.of("EventDataset", "events");
    expect(entriesOf(engine.urnOf(events))).toHaveLength(1);
    expect(await engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
    const { id: next } = engine.of("EventDataset", "events");
    expect(next).not.toBe(id);
    await observed.call(routes.getEventDataset, { eventDatasetId: next as string });
  },
);

test("a forced replacement of a killed run is resumed when it is forced again", async () => {
  expect(await engine.up([events])).toEqual([]);
  const before = engine.export();
  engine.programHears = false;
  expect(await engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
  const { id } = engine.of("EventDataset", "events");
  engine.import(before);
  expect(await engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
  expect(engine.of("EventDataset", "events").id).toBe(id);
});

test("an object that another resource adopts is not deleted with its previous resource", async () => {
  expect(await engine.up([events])).toEqual([]);
  const eventDatasetId = engine.of("EventDataset", "events").id as string;
  const args = () => ({ name: "events", numShards: 1, existingId: eventDatasetId });
  expect(await engine.up([{ kind: "EventDataset", name: "renamed", args }])).toEqual([]);
  expect(messages.join()).toMatch(/keeping \S+: urn:pulumi:.*::renamed uses it/);
  await observed.call(routes.getEventDataset, { eventDatasetId });
  expect(await engine.up([])).toEqual([]);
  await expect(observed.call(routes.getEventDataset, { eventDatasetId })).rejects.toThrow("404");
});

test("a program that is reverted after a kill gets a warning about the object of the killed run", async () => {
  expect(await engine.up([users])).toEqual([]);
  const made = { id: "user-dataset-b", reply: { userDatasetId: "user-dataset-b" } };
  await write(entry({ identity: "another", ...made }));
  expect(await engine.up([users])).toEqual([]);
  expect(messages.join()).toMatch(/killed run created user-dataset-b, which the program no longer declares/);
});

test("a create of a running engine belongs to another stack of the same name", async () => {
  const engineOfOther = createServer().listen(0, "127.0.0.1");
  await once(engineOfOther, "listening");
  const { port } = engineOfOther.address() as AddressInfo;
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  const theirs = {
    pid: process.ppid,
    engine: `127.0.0.1:${port}`,
    id: userDatasetId,
    reply: { userDatasetId },
  };
  await write(entry(theirs));
  expect(await engine.up([users])).toEqual([]);
  expect(engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
  expect(entriesOf(engine.urnOf(users))).toMatchObject([theirs]);
  engineOfOther.close();
});

test("an unwritable journal causes one warning, and the run continues", async () => {
  process.env.XDG_STATE_HOME = "/dev/null/nowhere";
  const items: Declared = { ...users, kind: "ItemDataset", name: "items" };
  expect(await engine.up([users, items])).toEqual([]);
  const told = messages.filter((message) => message.includes("cannot write the recovery journal"));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/Set XDG_STATE_HOME to a writable directory/);
});

test("RECOMMENDER_ADOPT that is still set does not affect a forced replacement", async () => {
  engine.programHears = false;
  expect(await engine.up([users])).toEqual([]);
  const { id } = engine.of("UserDataset", "users");
  process.env.RECOMMENDER_ADOPT = `users=${id}`;
  const errors = await engine.up([users], { replace: [keyOf(users)] });
  delete process.env.RECOMMENDER_ADOPT;
  expect(errors).toEqual([]);
  expect(engine.of("UserDataset", "users").id).not.toBe(id);
});

test("RECOMMENDER_ADOPT that is still set adopts nothing because of an entry of another stack", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  await write(entry({ urn: engine.urnOf(users).replace(engine.stack, "other"), lineage: "other" }));
  process.env.RECOMMENDER_ADOPT = `users=${userDatasetId}`;
  const errors = await engine.up([users]);
  delete process.env.RECOMMENDER_ADOPT;
  expect(errors).toEqual([]);
  expect(engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
});

test("RECOMMENDER_ADOPT with one object for two resources fails before anything is created", async () => {
  const { userDatasetId } = await observed.call(routes.createUserDataset, request);
  observed.calls();
  process.env.RECOMMENDER_ADOPT = `one=${userDatasetId},two=${userDatasetId}`;
  const [error] = await engine.up([users, { ...users, name: "one" }, { ...users, name: "two" }]);
  delete process.env.RECOMMENDER_ADOPT;
  expect(error?.message).toContain(`RECOMMENDER_ADOPT gives ${userDatasetId} to both one and two`);
  expect([created(), engine.all()]).toEqual([0, []]);
});

/** State after a run without a response. */
const asked = (more: { key: string; at: number }) => {
  const state = { ...request, __urn: engine.urnOf(users) };
  engine.held.set("UserDataset users", {
    ...{ kind: "UserDataset", name: "users", inputs: state, state, binding: "dynamic" },
    ...{ broken: true, dependencies: [] },
    id: `unknown-${more.key}.${digest(request)}.${more.at}`,
  });
};

test("runs that ask about a lost call again leave one placeholder in the state", async () => {
  asked({ key: randomUUID(), at: Date.now() - 24 * 3_600_000 });
  for (let times = 0; times < 3; times++) {
    const [error] = await engine.up([users]);
    expect(error?.message).toContain("RECOMMENDER_CREATE_AGAIN=users pulumi up");
  }
  expect(engine.all()).toMatchObject([{ id: expect.stringMatching(/^unknown-/) }]);
});

test("an object that was found again is not reported as orphaned when its placeholder is deleted", async () => {
  const key = randomUUID();
  await observed.client.call(routes.createUserDataset, request, { idempotencyKey: key });
  asked({ key, at: Date.now() });
  expect(await engine.up([users])).toEqual([]);
  expect(messages.filter((message) => message.includes("orphaned"))).toEqual([]);
});

test.each([
  ["0", false],
  ["false", false],
  ["", false],
  ["others", false],
  ["1", true],
  ["others, users", true],
])("RECOMMENDER_CREATE_AGAIN=%s", async (value, again) => {
  await write(entry({ at: new Date(Date.now() - 30 * 3_600_000).toISOString() }));
  process.env.RECOMMENDER_CREATE_AGAIN = value;
  observed.calls();
  await engine.up([users]);
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  expect(created()).toBe(again ? 1 : 0);
});

test("during an outage, a lost call stays in the journal for the next run, without a placeholder", async () => {
  await write(entry());
  const down = await ObservedService.start();
  const { url, key } = down.service;
  await down.close();
  const unreachable = new SmallEngine(newStack(), { url, key }, bindings);
  await write(entry({ urn: unreachable.urnOf(users), service: url }));
  const [error] = await unreachable.up([users]);
  expect(error?.message).toMatch(/refuses connections \(ECONNREFUSED\)/);
  expect(unreachable.held.size).toBe(0);
  await unreachable.close();
});
