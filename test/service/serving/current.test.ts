import { CurrentReader } from "../../../service/serving/current";
import { connect, type Db } from "../../../service/store/database";
import { projectOf } from "../../../service/store/find";
import { projectData } from "../../../service/store/project-data";
import { Running } from "../running";
import { openShop, shopRecords } from "../shop";

const { users, items, events } = shopRecords({ users: 150, perUser: 3 });
const userIds = users.map(({ userId }) => userId);
const views = events
  .slice(0, 20)
  .map((event) => ({ ...event, eventId: `view-${event.eventId}`, eventType: "view" }));

let api: Running;
let db: Db;
let newReader: (otherTypes?: readonly string[]) => CurrentReader;
beforeAll(async () => {
  api = await Running.start();
  const { projectId } = await openShop(api, { users, items, events: [...events, ...views] });
  db = connect(api.options.store as string);
  const data = await projectData(db, await projectOf(db, projectId));
  newReader = (otherTypes = []) => new CurrentReader(db, projectId, data, otherTypes);
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await db.destroy();
  await api.end();
});

/** Items of a user's uploaded events. */
const bought = (userId: string, among = events) =>
  among.filter((event) => event.userId === userId).map(({ itemId }) => itemId);

/** Items of a user's events as read. */
const itemsIn = (events: string | null) => (JSON.parse(events as string) as string[][])[0]?.sort();

test("concurrent requests are read in one batch, and each user gets the right events", async () => {
  const statements = jest.spyOn(db, "executeQuery");
  const reader = newReader();
  const all = await Promise.all([...userIds, "stranger"].map((userId) => reader.read(userId, "")));
  for (const [at, userId] of userIds.entries())
    expect([userId, itemsIn(all[at]?.events ?? null)]).toEqual([userId, bought(userId).sort()]);
  expect(all.at(-1)).toMatchObject({ stamp: "0:0", events: "[[], []]", jobId: null, deletions: 0 });
  // The first two are read separately, and the users who arrive meanwhile share the next read.
  expect(statements).toHaveBeenCalledTimes(5);
  // A user with a known stamp gets no events.
  const known = await Promise.all(all.slice(0, 5).map(({ stamp }, at) => reader.read(`u${at}`, stamp)));
  expect(known).toEqual(all.slice(0, 5).map((one) => ({ ...one, events: null })));
});

test("if events of other types count, each user gets them with their types", async () => {
  const reader = newReader(["view"]);
  const read = await Promise.all(userIds.map((userId) => reader.read(userId, "")));
  for (const [at, userId] of userIds.entries()) {
    const [ids, , types] = JSON.parse(read[at]?.events as string) as string[][];
    const of = (type: string) => ids?.filter((_, place) => types?.[place] === type).sort();
    expect([of("purchase"), of("view")]).toEqual([bought(userId).sort(), bought(userId, views).sort()]);
  }
});

test("a batch that fails because of the database is not repeated user by user", async () => {
  for (const error of [
    Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" }),
    new Error("Connection terminated unexpectedly"),
  ]) {
    const statements = jest.spyOn(db, "executeQuery").mockRejectedValue(error);
    const reader = newReader();
    const read = await Promise.allSettled(Array.from({ length: 1000 }, (_, at) => reader.read(`u${at}`, "")));
    expect(read.every((one) => one.status === "rejected" && one.reason === error)).toBe(true);
    expect(statements.mock.calls.length).toBeLessThan(20);
    jest.restoreAllMocks();
  }
});

test("calls beyond the capacity of a slow database are rejected immediately", async () => {
  let answer = () => {};
  const held = new Promise<never>((_, reject) => {
    answer = () => reject(new Error("gone"));
  });
  jest.spyOn(db, "executeQuery").mockReturnValue(held);
  const reader = newReader();
  const calls = Array.from({ length: 5000 }, (_, at) => reader.read(`u${at}`, ""));
  await expect(calls.at(-1)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    more: { headers: { "retry-after": "1" } },
  });
  answer();
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(5000);
});

test("an unreadable user does not fail the other users of the batch", async () => {
  const reader = newReader();
  // PostgreSQL rejects NUL characters.
  const asked = [...userIds.slice(0, 10), "no\0user", ...userIds.slice(10, 20)];
  const read = await Promise.allSettled(asked.map((userId) => reader.read(userId, "")));
  for (const [at, userId] of asked.entries()) {
    const one = read[at];
    if (userId === "no\0user")
      expect(one).toMatchObject({
        status: "rejected",
        reason: { message: expect.stringContaining("byte sequence") },
      });
    else
      expect([userId, one?.status === "fulfilled" && itemsIn(one.value.events)]).toEqual([
        userId,
        bought(userId).sort(),
      ]);
  }
  // Later requests work too.
  expect(itemsIn((await reader.read("u0", "")).events)).toEqual(bought("u0").sort());
});
