import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CallOptions, Client } from "../../client/client";
import type { Route } from "../../contract";
import { Loading, userLines } from "./loading";

let loading: Loading;
let stateHome: string | undefined;
beforeAll(async () => {
  loading = await Loading.start();
  stateHome = process.env.XDG_STATE_HOME;
});
afterEach(() => {
  process.env.XDG_STATE_HOME = stateHome;
});
afterAll(() => loading.end());

const user = (id: string, mark: string) => `${JSON.stringify({ user_id: id, attributes: { mark } })}\n`;
/** Two batches: the first has `ada` as old, the second as new. */
const twice = (first: string, last = user("ada", "new")) =>
  user("ada", "old") + user("ben", first) + userLines(0, 998) + last + userLines(998, 1500);

/** Returns a client whose upserts fail from the given call on. */
function failing(from: number): Client {
  const { client } = loading.observed;
  let calls = 0;
  const send = async (route: Route, body: Buffer, options: CallOptions) => {
    if (calls++ >= from) throw new Error("dead");
    return client.send(route, body, options);
  };
  return { service: client.service, send } as unknown as Client;
}

const onMachine = (name: string) => {
  process.env.XDG_STATE_HOME = join(loading.directory.path, name);
};

describe("if two batches share an id, the later record wins", () => {
  test("after another line of the first batch has changed", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("changed.ndjson", twice("one"));
    await loading.upload("users", id, file);
    loading.directory.write("changed.ndjson", twice("two"));
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 2 });
    expect(await loading.attributes(id, "ada")).toEqual({ mark: "new" });
    expect(await loading.attributes(id, "ben")).toEqual({ mark: "two" });
  });

  test("after a line was appended to a source with a rejected record in the first batch", async () => {
    const id = await loading.dataset("users");
    // The service rejects a lone surrogate, which the check before the upload accepts.
    const refused = `{"user_id":"s\\ud800"}\n`;
    // The appended line is in a third batch, so the second one has not changed.
    const lines = refused + twice("one") + userLines(1500, 2500);
    const file = loading.directory.write("refused.ndjson", lines);
    await loading.upload("users", id, file, { maxFailures: 1 });
    loading.directory.write("refused.ndjson", lines + user("eve", "late"));
    const again = await loading.upload("users", id, file, { maxFailures: 1 });
    expect(again).toMatchObject({ calls: 3, failedCount: 1 });
    expect(await loading.attributes(id, "ada")).toEqual({ mark: "new" });
  });

  test("after an upload was interrupted between the two batches and resumed", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("resumed.ndjson", twice("one"));
    await loading.upload("users", id, file);
    loading.directory.write("resumed.ndjson", twice("two"));
    await expect(loading.upload("users", id, file, { client: failing(1), parallel: 1 })).rejects.toThrow(
      "dead",
    );
    expect(await loading.attributes(id, "ada")).toEqual({ mark: "old" });
    await loading.upload("users", id, file);
    expect(await loading.attributes(id, "ada")).toEqual({ mark: "new" });
  });
});

test("if the later record of an id is removed, the earlier one wins again", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("removed.ndjson", twice("one"));
  await loading.upload("users", id, file);
  loading.directory.write("removed.ndjson", twice("one", user("cyd", "x")));
  await loading.upload("users", id, file);
  expect(await loading.attributes(id, "ada")).toEqual({ mark: "old" });
});

test("a source that is uploaded after another one wins, even in batches that have not changed", async () => {
  const id = await loading.dataset("users");
  const lines = (mark: string) => user("ben", mark) + userLines(0, 1500);
  const file = loading.directory.write("stack.ndjson", lines("one"));
  const { token: recorded } = await loading.upload("users", id, file, { history: {} });
  await loading.upload("users", id, loading.directory.write("import.ndjson", user("u1200", "imported")));
  expect(await loading.attributes(id, "u1200")).toEqual({ mark: "imported" });
  loading.directory.write("stack.ndjson", lines("two"));
  await loading.upload("users", id, file, { history: { recorded } });
  expect(await loading.attributes(id, "u1200")).toEqual({});
});

test("an interrupted upload is not resumed once another machine has uploaded", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("machines.ndjson", userLines(0, 2000, { version: 1 }));
  onMachine("laptop");
  await expect(loading.upload("users", id, file, { client: failing(1), parallel: 1 })).rejects.toThrow(
    "dead",
  );
  onMachine("ci");
  loading.directory.write("machines.ndjson", userLines(0, 2000, { version: 2 }));
  const { token: recorded } = await loading.upload("users", id, file, { history: {} });
  onMachine("laptop");
  loading.directory.write("machines.ndjson", userLines(0, 2000, { version: 1 }));
  expect(await loading.upload("users", id, file, { history: { recorded } })).toMatchObject({ calls: 2 });
  expect(await loading.attributes(id, "u0")).toEqual({ version: 1 });
});

test("a batch of a killed first upload that arrives after the next upload changes nothing", async () => {
  const id = await loading.dataset("users");
  const { client } = loading.observed;
  const held: (() => Promise<unknown>)[] = [];
  let calls = 0;
  const send: Client["send"] = async (...call) => {
    if (calls++ === 0) return client.send(...call);
    held.push(() => client.send(...call));
    throw new Error("dead");
  };
  const first = { history: {}, isAnnounced: true, parallel: 1 };
  const file = loading.directory.write("held.ndjson", userLines(0, 2000, { version: 1 }));
  const killed = { ...first, client: { service: client.service, send } as unknown as Client };
  await expect(loading.upload("users", id, file, killed)).rejects.toThrow("dead");
  loading.directory.write("held.ndjson", userLines(0, 2000, { version: 2 }));
  await loading.upload("users", id, file, first);
  expect(held).toHaveLength(1);
  await expect(held[0]?.()).rejects.toThrow("A later upload of the same source has replaced");
  expect(await loading.attributes(id, "u1999")).toEqual({ version: 2 });
});

test("everything is sent if an earlier version wrote the journal", async () => {
  const id = await loading.dataset("users");
  const file = loading.directory.write("upgraded.ndjson", userLines(0, 2000));
  const { token } = await loading.upload("users", id, file);
  loading.rewriteJournals((text) => text.replace(/"version":2,"token":"[^"]+",/, ""));
  const again = await loading.upload("users", id, file, { history: { recorded: token } });
  expect(again).toMatchObject({ calls: 2, recordCount: 2000 });
  rmSync(file);
});
