import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { routes } from "../../../contract";
import { ObservedService } from "../../engine/observed-service";
import { type BindingName, Bindings, bindingNames } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { resetAfter } from "../../faults/faults";
import { FaultProxy } from "../../faults/proxy";
import { newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";

const messages: string[] = [];
const bindings = new Bindings((_, message) => void messages.push(message));
const directory = mkdtempSync(join(tmpdir(), "recommender-state-"));
let observed: ObservedService;
let proxy: FaultProxy;
beforeAll(async () => {
  process.env.XDG_STATE_HOME = directory;
  observed = await ObservedService.start();
  proxy = await FaultProxy.start(observed.service);
  proxy.hidesKeys = true;
});
afterAll(async () => {
  bindings.close();
  await proxy.close();
  await observed.close();
  rmSync(directory, { recursive: true });
});
beforeEach(() => {
  messages.length = 0;
  proxy.clear();
});

const declared = (kind: Declared["kind"], args: object): Declared => ({
  ...{ kind, name: "clicks", args: () => ({ name: "clicks", ...args }) },
});

/** Creates a resource, and loses the response to the create of its replacement. */
async function loseReplacement(binding: BindingName, kind: Declared["kind"] = "EventDataset") {
  const engine = new SmallEngine(newStack(), { url: proxy.url, key: observed.service.key }, bindings);
  engine.binding = binding;
  expect(await engine.up([declared(kind, { numShards: 1 })])).toEqual([]);
  const { id } = engine.of(kind, "clicks") as { id: string };
  proxy.on(kind === "EventDataset" ? "POST /create-event-dataset" : "POST /create-user-dataset", resetAfter);
  const [error] = await engine.up([declared(kind, { numShards: 2 })]);
  expect(error?.message).toContain("RECOMMENDER_CREATE_AGAIN=clicks pulumi up");
  messages.length = 0;
  const creates = () => proxy.taken.filter(({ call }) => call.startsWith("POST /create-")).length;
  const before = creates();
  return { engine, id, created: () => creates() - before };
}

const exists = async (id: string) =>
  (await observed.call(routes.listEventDatasets, {})).eventDatasets.some(
    ({ eventDatasetId }) => eventDatasetId === id,
  );

describe.each(bindingNames)("with the %s binding, after the lost create of a replacement", (binding) => {
  test("the original is kept with its events if the program is reverted", async () => {
    const { engine, id, created } = await loseReplacement(binding);
    expect(await engine.up([declared("EventDataset", { numShards: 1 })])).toEqual([]);
    expect(engine.all()).toMatchObject([{ id, state: { eventDatasetId: id, numShards: 1 } }]);
    expect([created(), await exists(id)]).toEqual([0, true]);
    expect(messages).toContain(
      `keeping ${id}: an interrupted run was to replace it, and the program declares its arguments again`,
    );
    // The object of the lost create may exist, and nothing references it.
    expect(messages.join("\n")).toMatch(/create call at .* got no response.*orphaned/);

    messages.length = 0;
    expect(await engine.up([declared("EventDataset", { numShards: 1 })])).toEqual([]);
    expect(messages).toEqual([]);
    expect(await engine.up([])).toEqual([]);
    expect(await exists(id)).toBe(false);
  });

  test("the original is updated if the program is reverted with a different name", async () => {
    const { engine, id, created } = await loseReplacement(binding);
    expect(await engine.up([declared("EventDataset", { numShards: 1, name: "views" })])).toEqual([]);
    expect(engine.all()).toMatchObject([{ id, state: { name: "views" } }]);
    expect(created()).toBe(0);
    expect(await observed.call(routes.getEventDataset, { eventDatasetId: id })).toMatchObject({
      name: "views",
    });
  });

  test.each([2, 3])("its deletion is announced if the program declares %i shards", async (numShards) => {
    const { engine, id } = await loseReplacement(binding);
    await engine.up([declared("EventDataset", { numShards })]);
    expect(messages.join("\n")).toContain(
      `Replacing EventDataset clicks deletes its events, unless retainOnDelete is set: numShards 1 → ${numShards}. ` +
        "The new dataset is empty until its records are uploaded again. " +
        `To keep ${id}, which an interrupted run was to replace, declare its former arguments again.`,
    );
  });

  test("an original that no longer exists is created again if the program is reverted", async () => {
    const { engine, id, created } = await loseReplacement(binding);
    await observed.call(routes.deleteEventDataset, { eventDatasetId: id });
    expect(await engine.up([declared("EventDataset", { numShards: 1 })])).toEqual([]);
    expect(created()).toBe(1);
    expect(engine.of("EventDataset", "clicks").id).not.toBe(id);
  });

  test("an original that the API cannot delete is not orphaned if the program is reverted", async () => {
    const { engine, id, created } = await loseReplacement(binding, "UserDataset");
    expect(await engine.up([declared("UserDataset", { numShards: 1 })])).toEqual([]);
    expect(engine.all()).toMatchObject([{ id, state: { userDatasetId: id } }]);
    expect(created()).toBe(0);
    expect(messages.filter((message) => message.includes(`(${id}) is orphaned`))).toEqual([]);
  });
});
