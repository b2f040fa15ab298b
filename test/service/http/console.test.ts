import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { DefaultQueryExecutor } from "kysely";
import { request } from "undici";
import { limits } from "../../../contract";
import { Pool } from "../../../service/threads/pool";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { signIn } from "../visitor";

const json = { "content-type": "application/json" };

test("rejects invalid parameters with status 400", async () => {
  const running = await Running.start();
  const headers = { ...(await signIn(running)), ...json, origin: running.service.url };
  const get = (path: string) => running.raw(`/console/api/${path}`, { headers });
  const tryOut = (body: object) =>
    running.raw("/console/api/try", { method: "POST", headers, body: JSON.stringify(body) });
  for (const { status } of [
    await get("jobs?page=1.5"),
    await get("models?project=p&page=99999999999"),
    await get("models?project=p&limit=-5"),
    await tryOut({ projectId: "p", userId: "a\0" }),
    await tryOut({ projectId: "p\0" }),
  ])
    expect(status).toBe(400);
  await running.end();
});

/** Creates empty datasets and returns the arguments of a project that uses them. */
async function emptyDatasets(running: Running) {
  const { userDatasetId } = await running.call("createUserDataset", { name: "users", numShards: 1 });
  const { itemDatasetId } = await running.call("createItemDataset", { name: "items", numShards: 1 });
  const { eventDatasetId } = await running.call("createEventDataset", { name: "events", numShards: 1 });
  return { userDatasetId, itemDatasetId, eventDatasetId, targetEventType: "view" };
}

test("records are listed page by page, searched, and rejected ones are reported by every process", async () => {
  const running = await Running.start();
  const { userDatasetId } = await running.call("createUserDataset", { name: "users", numShards: 1 });
  const { eventDatasetId } = await running.call("createEventDataset", { name: "events", numShards: 1 });
  const ids = Array.from({ length: 130 }, (_, at) => `u${String(at).padStart(3, "0")}`);
  const users = ids.map((userId) => ({
    userId,
    attributes: { city: userId === "u100" ? "Zürich" : "Paris" },
  }));
  await running.call("upsertDatasetUsers", { userDatasetId, users });
  const event = { userId: "u100", itemId: "i", ts: 1, eventType: "view" };
  const events = ids.map((eventId) => ({ ...event, eventId, userId: eventId }));
  await running.call("upsertDatasetEvents", { eventDatasetId, events });
  const headers = await signIn(running);
  const read = async (view: string, query: Record<string, string>) =>
    (await running.raw(`/console/api/${view}?${new URLSearchParams(query)}`, { headers })).body;

  for (const [id, key] of [
    [userDatasetId, "id"],
    [eventDatasetId, "eventId"],
  ] as const) {
    const found: string[] = [];
    for (let next: string | null = ""; next !== null; ) {
      const page: { rows: Record<string, string>[]; next: string | null } = await read("records", {
        id,
        page: next,
      });
      expect(page.rows.length).toBeLessThanOrEqual(50);
      found.push(...page.rows.map((row) => row[key] as string));
      next = page.next;
    }
    expect(found).toEqual(ids);
    const search = await read("records", { id, search: id === userDatasetId ? "züri" : "U100" });
    expect([search.rows.map((row: Record<string, string>) => row[key]), search.next]).toEqual([
      ["u100"],
      null,
    ]);
  }
  const { rows } = await read("records", { id: userDatasetId, page: "u128", search: "\0" });
  expect(rows).toEqual([{ id: "u129", attributes: { city: "Paris" } }]);

  const large = { userId: "large", attributes: { text: "x".repeat(limits.recordBytes) } };
  for (const userId of ["one", "two"])
    await running.call("upsertDatasetUsers", {
      userDatasetId,
      users: [{ ...large, userId }, { user: 1 } as never, { "\0": 1 } as never],
    });
  const { refusals } = await read("dataset", { id: userDatasetId });
  expect(refusals.reasons).toMatchObject([
    { records: 4, last: [{ id: null }, { id: null }, { id: null }, { id: null }] },
    {
      records: 2,
      last: [
        { id: "one" },
        { id: "two", reason: expect.stringContaining(`at most ${limits.recordBytes} are allowed`) },
      ],
    },
  ]);
  expect(refusals.reasons[1].reason).toContain(`takes more than ${limits.recordBytes} bytes`);
  expect((await read("dataset", { id: eventDatasetId })).refusals.reasons).toEqual([]);
  const { attention } = await read("overview", {});
  expect(attention).toMatchObject([
    {
      title: "The user dataset users rejected 6 records since yesterday",
      href: `#/datasets/${userDatasetId}`,
    },
  ]);
  await running.end();
});

test("the overview reports how many projects and algorithms it leaves out", async () => {
  const running = await Running.start();
  const over = await emptyDatasets(running);
  const headers = await signIn(running);
  const read = async () => (await running.raw("/console/api/overview", { headers })).body;
  const ids: string[] = [];
  for (let at = 0; at < 50; at++)
    ids.push((await running.call("createProject", { name: `p${at}`, ...over })).projectId);
  // Without events, no model can be trained.
  expect((await read()).attention[0]).toMatchObject({
    title: expect.stringMatching(/^p\d+ has no events yet$/),
    text: expect.stringContaining("EventRecords"),
  });
  const projectId = ids.at(-1) as string;
  for (let at = 0; at < 23; at++) await running.call("createAlgorithm", { projectId, name: `a${at}` });
  const full = await read();
  expect([full.projects.length, full.otherProjects]).toEqual([50, 0]);
  const one = full.projects.find(({ id }: { id: string }) => id === projectId);
  expect([one.algorithms.length, one.otherAlgorithms]).toEqual([20, 3]);
  await running.call("createProject", { name: "another", ...over });
  const { projects, otherProjects } = await read();
  expect([projects.length, otherProjects]).toEqual([50, 1]);
  await running.end();
});

test("a search ends when its caller disconnects", async () => {
  const running = await Running.start();
  const { userDatasetId } = await running.call("createUserDataset", { name: "users", numShards: 1 });
  const steps = 200;
  await running.ask(`
    with recursive ids (id) as (select 1 union all select id + 1 from ids where id < ${steps * 200})
    insert into records (dataset, record_id, attributes)
    select (select max(number) from datasets), 'u' || id, '{}' from ids`);
  const headers = await signIn(running);
  const left = new AbortController();
  const { executeQuery } = DefaultQueryExecutor.prototype;
  let read = 0;
  jest.spyOn(DefaultQueryExecutor.prototype, "executeQuery").mockImplementation(function (
    this: DefaultQueryExecutor,
    query,
  ) {
    if (/from "records"/.test(query.sql) && ++read === 2) left.abort();
    return executeQuery.call(this, query) as never;
  });
  const search = (more: object) => {
    const query = new URLSearchParams({ id: userDatasetId, search: "nobody" });
    return request(`${running.service.url}/console/api/records?${query}`, { headers, ...more });
  };
  await expect(search({ signal: left.signal })).rejects.toThrow("aborted");
  const ofFirst = read;
  // If the first search continued, it would read rows during the second one.
  const { body } = await search({});
  await body.json();
  expect(read - ofFirst).toBeLessThan(1.5 * steps);
  jest.restoreAllMocks();
  await running.end();
});

test("extreme values do not break the screen of a dataset, and shortened values are not offered for questions", async () => {
  const clock = new ManualClock();
  const running = await Running.start({ clock });
  const over = await emptyDatasets(running);
  const { itemDatasetId, eventDatasetId } = over;
  const { projectId } = await running.call("createProject", { name: "p", ...over });
  const long = (end: string) => `${"x".repeat(199)}😀${end}`;
  const items = ["a", "b", "c"].map((itemId) => ({
    itemId,
    attributes: { price: Number.MAX_VALUE, text: long(itemId), brand: "c" },
  }));
  await running.call("upsertDatasetItems", { itemDatasetId, items });
  const day = 24 * 60 * 60 * 1000;
  const times = {
    now: clock.now(),
    later: clock.now() + 100 * 365 * day,
    far: clock.now() + 200 * 365 * day,
  };
  const events = Object.entries(times).map(([eventId, ts]) => ({
    eventId,
    userId: "u",
    itemId: "a",
    ts,
    eventType: "view",
  }));
  await running.call("upsertDatasetEvents", { eventDatasetId, events });
  // An earlier version accepted such timestamps.
  await running.ask(`update events set ts = ${Number.MAX_SAFE_INTEGER} where event_id = 'far'`);
  const headers = await signIn(running);
  const read = async (path: string) => {
    const { status, body } = await running.raw(`/console/api/${path}`, { headers });
    expect(status).toBe(200);
    return body;
  };
  const { attributes } = await read(`dataset?id=${itemDatasetId}`);
  const of = (name: string, all = attributes) => all.find((one: { name: string }) => one.name === name);
  expect(of("price").range.mean).toBe(Number.MAX_VALUE);
  const cut = { value: `${"x".repeat(199)}…`, count: 1, isWhole: false };
  expect(of("text")).toMatchObject({ distinct: 3, values: [cut, cut, cut] });
  const asking = await read(`asking?project=${projectId}`);
  expect([of("text", asking.attributes).values, of("brand", asking.attributes).values]).toMatchObject([
    [],
    [{ value: "c" }],
  ]);
  const today = new Date(times.now).toISOString().slice(0, 10);
  const shown = await read(`dataset?id=${eventDatasetId}`);
  expect([shown.events.sampled, shown.events.days]).toEqual([3, [{ day: today, counts: [1] }]]);
  await running.end();
});

test("a comparison of models stops when its caller disconnects, and few run at once", async () => {
  const running = await Running.start();
  const over = await emptyDatasets(running);
  const { projectId } = await running.call("createProject", { name: "p", ...over });
  await running.ask(`
    insert into models (id, number, project_id, name, algorithm_type, algorithm_parameters, created_ts)
    values ('m', 1, '${projectId}', 'm', 'G1', '{}', 1)`);
  const headers = await signIn(running);
  const compare = (signal: AbortSignal | null = null) =>
    request(`${running.service.url}/console/api/compare?models=m,m&users=["u"]`, { headers, signal });
  const left = new AbortController();
  let atWork = () => {};
  const allAtWork = new Promise<void>((resolve) => {
    atWork = resolve;
  });
  const run = jest.spyOn(Pool.prototype, "run").mockImplementation(async (_task, signal) => {
    const leaving = once(signal as AbortSignal, "abort");
    if (run.mock.calls.length === 4) atWork();
    await leaving;
    throw signal?.reason;
  });
  const waiting = Array.from({ length: 4 }, () => compare(left.signal));
  const ended = Promise.allSettled(waiting);
  await Promise.race([allAtWork, ended]);
  const { statusCode, body } = await compare();
  expect([statusCode, (await body.json()) as object]).toMatchObject([
    429,
    { error: { code: "RATE_LIMITED" } },
  ]);
  left.abort();
  await ended;
  const works = await Promise.allSettled(run.mock.results.map(({ value }) => value));
  expect(works.map((one) => one.status === "rejected" && one.reason.message)).toEqual(
    Array(4).fill("The caller disconnected."),
  );
  run.mockImplementation(async () => [] as never);
  expect((await compare()).statusCode).toBe(200);
  jest.restoreAllMocks();
  await running.end();
});

test("rejects large and compressed bodies without authentication", async () => {
  const running = await Running.start();
  const send = async (path: string, body: Buffer, more: Record<string, string> = {}) => {
    const headers = { ...json, origin: running.service.url, ...more };
    return (await running.raw(path, { method: "POST", headers, body })).status;
  };
  const [large, packed] = [Buffer.alloc(limits.tokenRequestBytes + 1, "["), { "content-encoding": "gzip" }];
  for (const path of ["/console/code", "/console/session"]) {
    expect(await send(path, large)).toBe(413);
    expect(await send(path, gzipSync(large), packed)).toBe(415);
  }
  // Without a session the response is 401 for every body, because the body is not read.
  for (const path of ["/console/api/try", "/console/api/other"]) {
    expect(await send(path, large)).toBe(401);
    expect(await send(path, gzipSync(large), packed)).toBe(401);
  }
  expect(await send("/console/api/try", large, await signIn(running))).toBe(400);
  await running.end();
});
