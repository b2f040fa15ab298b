import { routes } from "../../../contract";
import { type AccountEvidence, accountVerdict } from "../../../provider/lifecycle/account-proof";
import { ObservedService } from "../../engine/observed-service";
import { Bindings } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { fromService, instead } from "../../faults/faults";
import { FaultProxy } from "../../faults/proxy";
import { type Held, newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";

const rows: readonly (readonly [string, AccountEvidence, string])[] = [
  ["the key is the same", { key: "same" }, "same"],
  ["the state is of an older version", { key: "unknown" }, "same"],
  ["the key is another one", { key: "different" }, "search"],
  ["the key is another one, and shows what the stack created", { key: "different", visible: "some" }, "same"],
  ["the key is another one, and shows nothing of the stack", { key: "different", visible: "none" }, "reject"],
  ["the key is different, and the service shows no object", { key: "different", visible: "unknown" }, "same"],
  ["the user says that it is the same account", { key: "different", confirmedSame: true }, "same"],
];

test.each(rows)("if %s", (_, evidence, verdict) => {
  expect(accountVerdict(evidence)).toBe(verdict);
});

describe("a stack whose key changes", () => {
  const messages: string[] = [];
  const bindings = new Bindings((_, message) => messages.push(message));
  let proxy: FaultProxy;
  let ours: ObservedService;
  let theirs: ObservedService;
  const engines: SmallEngine[] = [];
  beforeAll(async () => {
    ours = await ObservedService.start();
    theirs = await ObservedService.start();
    proxy = await FaultProxy.start(ours.service);
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    bindings.close();
    await proxy.close();
    await theirs.close();
    await ours.close();
  });

  const events: Declared = {
    kind: "EventDataset",
    name: "events",
    args: () => ({ name: "events", numShards: 1 }),
  };
  const more: Declared = { ...events, name: "more" };
  const withKeyOf = (engine: SmallEngine, { service: { url, key } }: ObservedService) => {
    const next = new SmallEngine(engine.stack, { url, key }, bindings);
    next.import(engine.export());
    engines.push(next);
    return next;
  };
  const users: Declared = { ...events, kind: "UserDataset", name: "users" };
  const first = async (program = [events, more], url = ours.service.url) => {
    const engine = new SmallEngine(newStack(), { url, key: ours.service.key }, bindings);
    engines.push(engine);
    expect(await engine.up(program)).toEqual([]);
    return engine;
  };
  /** Changes the state as if a different key had written it. */
  const withOldKey = (engine: SmallEngine) => {
    for (const [key, row] of engine.held)
      engine.held.set(key, { ...row, state: { ...row.state, __account: "0ldc0ffe" } });
  };

  test("within its account continues, and only deleted objects are gone", async () => {
    const engine = await first();
    withOldKey(engine);
    const { id: eventDatasetId } = engine.of("EventDataset", "more") as { id: string };
    await ours.call(routes.deleteEventDataset, { eventDatasetId });
    expect(await engine.refresh()).toEqual([]);
    expect([...engine.held.keys()]).toEqual(["EventDataset events"]);
    expect(engine.of("EventDataset", "events").__account).not.toBe("0ldc0ffe");
  });

  test("to the key of another account is rejected, instead of creating everything again", async () => {
    const engine = await first();
    withOldKey(engine);
    // The same address, with the other account.
    for (const [key, row] of engine.held)
      engine.held.set(key, { ...row, state: { ...row.state, __service: theirs.service.url } });
    const other = withKeyOf(engine, theirs);
    const words = /created with a different API key .* probably belongs to another account/;
    await expect(other.refresh()).rejects.toThrow(words);
    const [error] = await other.up([events, more]);
    expect(error?.message).toMatch(words);
    const [ofDelete] = await other.up([]);
    expect(ofDelete?.message).toMatch(words);
    expect(theirs.calls()).not.toContain("POST /create-event-dataset");
    expect([...other.held.keys()].sort()).toEqual(["EventDataset events", "EventDataset more"]);
  });

  test("to the key of another account is rejected, even if that account has objects with the same ids", async () => {
    const engine = await first();
    // The ids lead to objects of the other account, which have other names.
    const foreign = async (name: string, numShards: number) =>
      (await theirs.call(routes.createEventDataset, { name, numShards })).eventDatasetId;
    for (const [key, row] of engine.held) {
      const { numShards } = row.state as { numShards: number };
      const id = await foreign("payments", numShards);
      const state = { ...row.state, eventDatasetId: id, __service: theirs.service.url };
      engine.held.set(key, { ...row, id, state });
    }
    withOldKey(engine);
    const other = withKeyOf(engine, theirs);
    theirs.calls();
    const [error] = await other.up([]);
    expect(error?.message).toMatch(/probably belongs to another account/);
    expect(theirs.calls()).not.toContain("DELETE /delete-event-dataset");
  });

  test.each<[string, number | null, boolean]>([
    ["the same creation time", 1_000, true],
    ["a different creation time", 2_000, false],
    ["an unknown creation time", null, true],
  ])("to a key that shows a model with the same id and name, and %s", async (_, createdTs, isAccepted) => {
    const engine = await first([events], proxy.url);
    const stored = engine.held.get("EventDataset events") as Held;
    const state = { name: "m", projectId: "p1", modelId: "m1", __createdTs: 1_000, __service: proxy.url };
    const row: Held = { ...stored, kind: "Model", name: "m", id: "m1", inputs: state, state };
    engine.held.set("Model m", row);
    withOldKey(engine);
    const reply = { project_id: "p1", model_id: "m1", name: "m", created_ts: createdTs };
    const shown = { times: Number.POSITIVE_INFINITY };
    const listed = JSON.stringify({ models: [reply] });
    const heal = [
      proxy.on("GET /get-model", fromService(200, JSON.stringify(reply)), shown),
      proxy.on("GET /list-models", fromService(200, listed), shown),
    ];
    const refreshed = await engine.refresh().then(
      () => "accepted",
      (error: Error) => error.message,
    );
    for (const each of heal) each();
    expect(refreshed).toMatch(isAccepted ? /^accepted$/ : /probably belongs to another account/);
  });

  test("is recognized by any object that the service shows", async () => {
    const engine = await first([users]);
    withOldKey(engine);
    expect(await engine.refresh()).toEqual([]);
    expect(engine.of("UserDataset", "users").__account).not.toBe("0ldc0ffe");
  });

  test("continues with a warning if the service cannot show any of its objects, and reads no placeholder", async () => {
    const hidden = { times: Number.POSITIVE_INFINITY };
    proxy.on("GET /healthz", instead(200, "{}", { taken: false }), hidden);
    const engine = await first([users], proxy.url);
    const lost = {
      ...events,
      ...(engine.held.get("UserDataset users") as Held),
      kind: "EventDataset",
    } as const;
    const id = `unknown-key.identity.${Date.now()}`;
    engine.held.set("EventDataset events", { ...lost, name: "events", id, binding: "plugin" });
    withOldKey(engine);
    const before = proxy.came.length;
    expect(await engine.refresh()).toEqual([]);
    expect(messages.join()).toMatch(
      /created with a different API key, and the service cannot show any of its objects/,
    );
    expect(proxy.came.slice(before)).not.toContain("GET /get-event-dataset");
    expect(engine.of("UserDataset", "users").__account).not.toBe("0ldc0ffe");
  });
});
