import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../../client/state-directory";
import { type JournalEntry, unreadableFiles, write } from "../../../provider/recovery/journal";
import { ObservedService } from "../../engine/observed-service";
import { Bindings } from "../../faults/bindings";
import type { Declared } from "../../faults/declared";
import { newStack } from "../../faults/rows";
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
  ...{ identity: digest(request), key: randomUUID(), derived: false, request },
  ...{ at: new Date().toISOString(), pid: 999_999_999, host: hostname() },
  ...more,
});

describe("the journal", () => {
  const files = () =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name));

  test("records no arguments, which may be secret", async () => {
    engine.programHears = false;
    const secret: Declared = {
      ...users,
      args: () => ({ name: "hunter2", numShards: 1, attributeSchema: { hunter2: "NUMERICAL" } }),
    };
    expect(await engine.up([secret])).toEqual([]);
    expect(files()).toHaveLength(1);
    expect(readFileSync(files()[0] as string, "utf8")).not.toContain("hunter2");
  });

  test("with an unreadable file stops only its own resource", async () => {
    const other: Declared = { ...users, name: "others" };
    await write(entry());
    const [file] = files() as [string];
    writeFileSync(file, "");
    expect(unreadableFiles()).toEqual([file]);
    const [error] = await engine.up([users, other, events]);
    expect(error?.message).toMatch(/cannot read the recovery journal .*`recommender interrupted --forget`/);
    expect(engine.of("UserDataset", "others").id).toMatch(/^user-dataset-/);
    expect(engine.of("EventDataset", "events").id).toMatch(/^event-dataset-/);
  });
});

test("an unreadable journal file causes a warning in a refresh and a destroy", async () => {
  expect(await engine.up([events])).toEqual([]);
  await write(entry({ urn: engine.urnOf(events), path: "/create-event-dataset" }));
  const [file] = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  writeFileSync(join(file?.parentPath ?? "", file?.name ?? ""), "");
  engine.programHears = false;
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  expect(await engine.refresh()).toEqual([]);
  expect(await engine.up([])).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
  expect(messages.join()).toContain("cannot read the recovery journal");
  expect(engine.held.size).toBe(0);
});
