import { routes } from "../../../contract";
import { type AccountEvidence, accountVerdict } from "../../../provider/lifecycle/account-proof";
import { ObservedService } from "../../engine/observed-service";
import { Carriers } from "../../faults/carriers";
import type { Declared } from "../../faults/declared";
import { newStack } from "../../faults/rows";
import { SmallEngine } from "../../faults/small-engine";

const rows: readonly (readonly [string, AccountEvidence, string])[] = [
  ["the key is the same", { key: "same" }, "same"],
  ["the state is of an older version", { key: "unknown" }, "same"],
  ["the key is another one", { key: "different" }, "look"],
  ["the key is another one, and shows what the stack created", { key: "different", seesOurs: true }, "same"],
  ["the key is another one, and shows nothing of the stack", { key: "different", seesOurs: false }, "refuse"],
  ["the user says that it is the same account", { key: "different", saidSame: true }, "same"],
];

test.each(rows)("if %s", (_, evidence, verdict) => {
  expect(accountVerdict(evidence)).toBe(verdict);
});

describe("a stack whose key changes", () => {
  const carriers = new Carriers();
  let ours: ObservedService;
  let theirs: ObservedService;
  const engines: SmallEngine[] = [];
  beforeAll(async () => {
    ours = await ObservedService.start();
    theirs = await ObservedService.start();
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    carriers.close();
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
    const next = new SmallEngine(engine.stack, { url, key }, carriers);
    next.import(engine.export());
    engines.push(next);
    return next;
  };
  const first = async () => {
    const engine = new SmallEngine(newStack(), { url: ours.service.url, key: ours.service.key }, carriers);
    engines.push(engine);
    expect(await engine.up([events, more])).toEqual([]);
    return engine;
  };
  /** The rows of a stack as if another key had written them. */
  const withOldKey = (engine: SmallEngine) => {
    for (const [key, row] of engine.held)
      engine.held.set(key, { ...row, state: { ...row.state, __account: "0ldc0ffe" } });
  };

  test("within its account goes on: what is gone is gone, and the rest is there", async () => {
    const engine = await first();
    withOldKey(engine);
    const { id: eventDatasetId } = engine.of("EventDataset", "more") as { id: string };
    await ours.call(routes.deleteEventDataset, { eventDatasetId });
    expect(await engine.refresh()).toEqual([]);
    expect([...engine.held.keys()]).toEqual(["EventDataset events"]);
    expect(engine.of("EventDataset", "events").__account).not.toBe("0ldc0ffe");
  });

  test("to that of another account is refused, instead of creating everything again", async () => {
    const engine = await first();
    withOldKey(engine);
    // The same address, behind which the other account is.
    for (const [key, row] of engine.held)
      engine.held.set(key, { ...row, state: { ...row.state, __service: theirs.service.url } });
    const other = withKeyOf(engine, theirs);
    const words = /created with another API key .* seems to be the key of another account/;
    await expect(other.refresh()).rejects.toThrow(words);
    const [error] = await other.up([events, more]);
    expect(error?.message).toMatch(words);
    const [ofDelete] = await other.up([]);
    expect(ofDelete?.message).toMatch(words);
    expect(theirs.calls()).not.toContain("POST /create-event-dataset");
    expect([...other.held.keys()]).toEqual(["EventDataset events", "EventDataset more"]);
  });
});
