import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { digest } from "../../../client/state-directory";
import { routes } from "../../../contract";
import { entriesOf, write } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { bindingNames } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { keyOf, newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";
import { events, KilledRuns, request, users } from "./killed-runs";

const runs = KilledRuns.use();

test("the create of a killed run is resumed and then erased from the journal, even if the next run is killed too", async () => {
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  await write(runs.entry({ id: userDatasetId, reply: { userDatasetId } }));
  runs.engine.programHears = false;
  runs.observed.calls();
  expect(await runs.engine.up([users])).toEqual([]);
  expect([runs.engine.of("UserDataset", "users").id, runs.created()]).toEqual([userDatasetId, 0]);
  expect(runs.messages.join()).toContain("which an interrupted run created");
  expect(entriesOf(runs.engine.urnOf(users))).toHaveLength(1);
  expect(await runs.engine.up([users])).toEqual([]);
  expect(entriesOf(runs.engine.urnOf(users))).toEqual([]);
});

test("an object of a killed run that the service no longer has is created again, with a warning", async () => {
  const { observed, engine, messages } = runs;
  const reply = await observed.call(routes.createEventDataset, request);
  const { eventDatasetId: id } = reply;
  await observed.call(routes.deleteEventDataset, { eventDatasetId: id });
  await write(runs.entry({ urn: engine.urnOf(events), path: "/create-event-dataset", id, reply }));
  expect(await engine.up([events])).toEqual([]);
  expect(engine.of("EventDataset", "events").id).not.toBe(id);
  expect(messages.join()).toContain(`the service no longer has ${id}, which an interrupted run created`);
});

test("a schema that is added to a dataset resumed without one is detected", async () => {
  runs.engine.programHears = false;
  expect(await runs.engine.up([events])).toEqual([]);
  runs.engine.held.clear();
  expect(await runs.engine.up([events])).toEqual([]);
  expect(runs.messages.join()).toContain("which an interrupted run created");
  const eventDatasetId = runs.engine.of("EventDataset", "events").id as string;
  const attributeSchema = { age: "NUMERICAL" } as const;
  await runs.observed.call(routes.updateEventDataset, { eventDatasetId, name: "users", attributeSchema });
  await runs.engine.refresh();
  expect(runs.engine.of("EventDataset", "events").attributeSchema).toEqual(attributeSchema);
});

test("a lost call is repeated once with its key", async () => {
  const key = randomUUID();
  const made = await runs.observed.client.call(routes.createUserDataset, request, { idempotencyKey: key });
  await write(runs.entry({ key }));
  expect(await runs.engine.up([users])).toEqual([]);
  expect(runs.engine.of("UserDataset", "users").id).toBe(made.userDatasetId);
});

test("a lost call in the state with an old key leads to a question, on any machine", async () => {
  const [at, identity] = [Date.now() - 30 * 3_600_000, digest(request)];
  const state = { ...request, __urn: runs.engine.urnOf(users) };
  runs.engine.held.set("UserDataset users", {
    ...{ kind: "UserDataset", name: "users", inputs: state, state, binding: "dynamic" },
    ...{ broken: true, dependencies: [] },
    id: `unknown-${randomUUID()}.${identity}.${at}`,
  });
  runs.observed.calls();
  const [error] = await runs.engine.up([users]);
  expect(error?.message).toContain("existingId");
  expect(runs.created()).toBe(0);
});

test("an old key, which the service may have dropped, leads to a question", async () => {
  await write(runs.entry({ at: new Date(Date.now() - 30 * 3_600_000).toISOString() }));
  runs.observed.calls();
  const [error] = await runs.engine.up([users]);
  expect(error?.message).toMatch(/was interrupted before the response.*existingId/);
  expect(runs.created()).toBe(0);
});

test("an object of another resource is never a candidate for a lost call, even with equal arguments", async () => {
  const twin = { ...events, name: "twin" };
  const { eventDatasetId } = await runs.observed.call(routes.createEventDataset, request);
  const begun = { path: "/create-event-dataset", before: [] };
  await write(
    runs.entry({ ...begun, urn: runs.engine.urnOf(events), id: eventDatasetId, reply: { eventDatasetId } }),
  );
  await write(
    runs.entry({
      ...begun,
      urn: runs.engine.urnOf(twin),
      at: new Date(Date.now() - 30 * 3_600_000).toISOString(),
    }),
  );
  const [error] = await runs.engine.up([events, twin]);
  expect(error?.message).toMatch(/^EventDataset twin: .*RECOMMENDER_CREATE_AGAIN=twin pulumi up/);
  expect(error?.message).not.toContain(eventDatasetId);
  process.env.RECOMMENDER_CREATE_AGAIN = "twin";
  expect(await runs.engine.up([events, twin])).toEqual([]);
  delete process.env.RECOMMENDER_CREATE_AGAIN;
  expect(runs.engine.of("EventDataset", "events").id).toBe(eventDatasetId);
  expect(runs.engine.of("EventDataset", "twin").id).not.toBe(eventDatasetId);
});

test("a run waits for a process of the killed run that is still sending the call", async () => {
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  const alive = runs.entry({ pid: process.ppid });
  await write(alive);
  setTimeout(() => write({ ...alive, id: userDatasetId, reply: { userDatasetId } }), 100);
  runs.observed.calls();
  expect(await runs.engine.up([users])).toEqual([]);
  expect([runs.engine.of("UserDataset", "users").id, runs.created()]).toEqual([userDatasetId, 0]);
});

test("entries of other services and resources are ignored", async () => {
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  const done = { id: userDatasetId, reply: { userDatasetId } };
  await write(runs.entry({ ...done, service: "http://127.0.0.1:9" }));
  await write(runs.entry({ ...done, urn: runs.engine.urnOf({ kind: "UserDataset", name: "others" }) }));
  expect(await runs.engine.up([users])).toEqual([]);
  expect(runs.engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
});

test("a forced replacement creates a new object, because the state contains the first", async () => {
  expect(await runs.engine.up([users, events])).toEqual([]);
  const before = [runs.engine.of("UserDataset", "users").id, runs.engine.of("EventDataset", "events").id];
  expect(await runs.engine.up([users, events], { replace: [users, events].map(keyOf) })).toEqual([]);
  const after = [runs.engine.of("UserDataset", "users").id, runs.engine.of("EventDataset", "events").id];
  expect(after.filter((id) => before.includes(id))).toEqual([]);
  const { eventDatasets } = await runs.observed.call(routes.listEventDatasets, {});
  expect(eventDatasets.map(({ eventDatasetId }) => eventDatasetId)).toContain(after[1]);
  expect(eventDatasets.map(({ eventDatasetId }) => eventDatasetId)).not.toContain(before[1]);
});

test.each(bindingNames)(
  "a replacement creates a new object if the state has the first one, even if the journal still has it: %s",
  async (binding) => {
    runs.engine.programHears = false;
    runs.engine.binding = binding;
    expect(await runs.engine.up([events])).toEqual([]);
    const { id } = runs.engine.of("EventDataset", "events");
    expect(entriesOf(runs.engine.urnOf(events))).toHaveLength(1);
    expect(await runs.engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
    const { id: next } = runs.engine.of("EventDataset", "events");
    expect(next).not.toBe(id);
    await runs.observed.call(routes.getEventDataset, { eventDatasetId: next as string });
  },
);

test("a forced replacement of a killed run is resumed when it is forced again", async () => {
  expect(await runs.engine.up([events])).toEqual([]);
  const before = runs.engine.export();
  runs.engine.programHears = false;
  expect(await runs.engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
  const { id } = runs.engine.of("EventDataset", "events");
  runs.engine.import(before);
  expect(await runs.engine.up([events], { replace: [keyOf(events)] })).toEqual([]);
  expect(runs.engine.of("EventDataset", "events").id).toBe(id);
});

test("an object that another resource adopts is not deleted with its previous resource", async () => {
  expect(await runs.engine.up([events])).toEqual([]);
  const eventDatasetId = runs.engine.of("EventDataset", "events").id as string;
  const args = () => ({ name: "events", numShards: 1, existingId: eventDatasetId });
  expect(await runs.engine.up([{ kind: "EventDataset", name: "renamed", args }])).toEqual([]);
  expect(runs.messages.join()).toMatch(/keeping \S+: urn:pulumi:.*::renamed uses it/);
  await runs.observed.call(routes.getEventDataset, { eventDatasetId });
  expect(await runs.engine.up([])).toEqual([]);
  await expect(runs.observed.call(routes.getEventDataset, { eventDatasetId })).rejects.toThrow("404");
});

test("a program that is reverted after a kill gets a warning about the object of the killed run", async () => {
  expect(await runs.engine.up([users])).toEqual([]);
  const made = { id: "user-dataset-b", reply: { userDatasetId: "user-dataset-b" } };
  await write(runs.entry({ identity: "another", ...made }));
  expect(await runs.engine.up([users])).toEqual([]);
  expect(runs.messages.join()).toMatch(
    /killed run created user-dataset-b, which the program no longer declares/,
  );
});

test("a create of a running engine belongs to another stack of the same name", async () => {
  const engineOfOther = createServer().listen(0, "127.0.0.1");
  await once(engineOfOther, "listening");
  const { port } = engineOfOther.address() as AddressInfo;
  const { userDatasetId } = await runs.observed.call(routes.createUserDataset, request);
  const theirs = {
    pid: process.ppid,
    engine: `127.0.0.1:${port}`,
    id: userDatasetId,
    reply: { userDatasetId },
  };
  await write(runs.entry(theirs));
  expect(await runs.engine.up([users])).toEqual([]);
  expect(runs.engine.of("UserDataset", "users").id).not.toBe(userDatasetId);
  expect(entriesOf(runs.engine.urnOf(users))).toMatchObject([theirs]);
  engineOfOther.close();
});

test("an unwritable journal causes one warning, and the run continues", async () => {
  process.env.XDG_STATE_HOME = "/dev/null/nowhere";
  const items: Declared = { ...users, kind: "ItemDataset", name: "items" };
  expect(await runs.engine.up([users, items])).toEqual([]);
  const told = runs.messages.filter((message) => message.includes("cannot write the recovery journal"));
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/Set XDG_STATE_HOME to a writable directory/);
});

test("during an outage, a lost call stays in the journal for the next run, without a placeholder", async () => {
  await write(runs.entry());
  const down = await ObservedService.start();
  const { url, key } = down.service;
  await down.close();
  const unreachable = new SmallEngine(newStack(), { url, key }, runs.bindings);
  await write(runs.entry({ urn: unreachable.urnOf(users), service: url }));
  const [error] = await unreachable.up([users]);
  expect(error?.message).toMatch(/refuses connections \(ECONNREFUSED\)/);
  expect(unreachable.held.size).toBe(0);
  await unreachable.close();
});
