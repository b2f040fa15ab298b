import { limits } from "../../../contract";
import { Running } from "../running";

describe("records", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  async function status(id: string | undefined) {
    const { body } = await api.raw("/status", { headers: { apikey: api.service.key } });
    return body.datasets.find((dataset: { id: string }) => dataset.id === id);
  }

  test("users and items are inserted, updated and counted once", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 2 });
    const users = [{ userId: "a", attributes: { age: 1 } }, { userId: "b" }];
    const reply = await api.call("upsertDatasetUsers", { userDatasetId, users });
    expect(reply).toEqual({ userDatasetId, succeedIds: ["a", "b"], failedIds: [], failures: [] });
    await api.call("upsertDatasetUsers", {
      userDatasetId,
      users: [{ userId: "a", attributes: { age: 2 } }, { userId: "c" }],
    });
    expect(await status(userDatasetId)).toMatchObject({ kind: "user", records: 3 });

    const { itemDatasetId } = await api.call("createItemDataset", { name: "items", numShards: 1 });
    const items = [{ itemId: "x", attributes: { genre: ["a", "b"] } }];
    expect((await api.call("upsertDatasetItems", { itemDatasetId, items })).succeedIds).toEqual(["x"]);
  });

  test("the records of a dataset are counted, and those of an unknown dataset are not found", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const count = () => api.call("countDatasetRecords", { datasetId: userDatasetId });
    expect(await count()).toMatchObject({ recordCount: 0 });
    await api.call("upsertDatasetUsers", { userDatasetId, users: [{ userId: "a" }, { userId: "b" }] });
    expect(await count()).toMatchObject({ recordCount: 2 });
    await expect(api.call("countDatasetRecords", { datasetId: "user-dataset-0" })).rejects.toThrow(
      "NOT_FOUND",
    );
  });

  test("the last upload of each source is returned, and late batches of an upload that it replaced are rejected", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const { eventDatasetId } = await api.call("createEventDataset", { name: "events", numShards: 1 });
    const path = "/upsert-dataset-users";
    const send = async (
      upload?: string,
      to = path,
      body: object = { user_dataset_id: userDatasetId, users: [] },
    ) =>
      api.raw(to, {
        method: "POST",
        headers: {
          ...(await api.headers(to)),
          "content-type": "application/json",
          ...(upload && { "recommender-upload": upload }),
        },
        body: JSON.stringify(body),
      });
    const uploads = async (datasetId: string) =>
      (await api.call("countDatasetRecords", { datasetId })).lastUploads;
    expect(await uploads(userDatasetId)).toEqual([]);
    await Promise.all(["a1/a2", "b1/b2", "c1/c2", "a1/a2"].map((upload) => send(upload)));
    expect(new Set(await uploads(userDatasetId))).toEqual(new Set(["a1/a2", "b1/b2", "c1/c2"]));
    await send("a2/a3");
    await send("b1/b3");
    await send();
    expect(new Set(await uploads(userDatasetId))).toEqual(new Set(["a2/a3", "b1/b3", "c1/c2"]));
    expect((await send("no slash")).status).toBe(400);
    const event = { event_id: "e", user_id: "u", item_id: "i", ts: 1, event_type: "view" };
    const events = { event_dataset_id: eventDatasetId, events: [event] };
    expect((await send("d1/d2", "/upsert-dataset-events", events)).status).toBe(200);
    expect(await uploads(eventDatasetId)).toEqual(["d1/d2"]);

    // A proxy may deliver the batches of a killed upload after a later upload has ended.
    for (const replaced of ["a1/a2", "b1/b2", "other/b1"]) {
      const late = { user_dataset_id: userDatasetId, users: [{ user_id: "late" }] };
      const { status, body } = await send(replaced, path, late);
      expect({ status, code: body.error.code }).toEqual({ status: 409, code: "CONFLICT" });
    }
    expect(new Set(await uploads(userDatasetId))).toEqual(new Set(["a2/a3", "b1/b3", "c1/c2"]));
    expect((await api.call("countDatasetRecords", { datasetId: userDatasetId })).recordCount).toBe(0);
  });

  test("only invalid records fail, each with its id, index and reason", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const users = [
      { userId: "good" },
      { userId: "bad", attributes: 7 },
      { userId: "extra", color: "red" },
      {},
      "text",
      { userId: "lone \ud800" },
      { userId: "nul \0" },
    ];
    const wire = users.map((user) =>
      typeof user === "object" && "userId" in user
        ? { ...user, user_id: user.userId, userId: undefined }
        : user,
    );
    const { body } = await api.raw("/upsert-dataset-users", {
      method: "POST",
      headers: { ...(await api.headers("/upsert-dataset-users")), "content-type": "application/json" },
      body: JSON.stringify({ user_dataset_id: userDatasetId, users: wire }),
    });
    expect(body.succeed_ids).toEqual(["good"]);
    expect(body.failed_ids).toEqual(["bad", "extra", "lone \ud800", "nul \0"]);
    expect(body.failures.map(({ index }: { index: number }) => index)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(body.failures[0]).toEqual({ id: "bad", index: 1, reason: "attributes: expected an object" });
    expect(body.failures[1].reason).toContain("color");
    expect(await status(userDatasetId)).toMatchObject({ records: 1 });
  });

  test("only records that are too deep or too large or have long ids fail, and the reason names the limit", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "u", numShards: 1 });
    const { itemDatasetId } = await api.call("createItemDataset", { name: "i", numShards: 1 });
    const { eventDatasetId } = await api.call("createEventDataset", { name: "e", numShards: 1 });
    const deep = `${"[".repeat(4000)}${"]".repeat(4000)}`;
    const long = "x".repeat(limits.idCharacters + 1);
    const send = async (
      path: string,
      dataset: string,
      list: string,
      record: (id: string, of: string) => string,
    ) => {
      const large = `"${"x".repeat(limits.recordBytes)}"`;
      const records = [record("good", "1"), record("deep", deep), record("large", large), record(long, "1")];
      const { status, body } = await api.raw(path, {
        method: "POST",
        headers: { ...(await api.headers(path)), "content-type": "application/json" },
        body: `{${dataset},"${list}":[${records}]}`,
      });
      expect(status).toBe(200);
      expect(body.succeed_ids).toEqual(["good"]);
      expect(body.failed_ids).toEqual(["deep", "large", long]);
      return body.failures.map(({ reason }: { reason: string }) => reason);
    };
    const reasons = (bytes: number) => [
      expect.stringContaining(`${limits.attributeDepth} levels`),
      expect.stringContaining(`at most ${bytes} are allowed`),
      expect.stringContaining(String(limits.idCharacters)),
    ];
    expect(
      await send(
        "/upsert-dataset-users",
        `"user_dataset_id":"${userDatasetId}"`,
        "users",
        (id, of) => `{"user_id":"${id}","attributes":{"a":${of}}}`,
      ),
    ).toEqual(reasons(limits.recordBytes));
    expect(
      await send(
        "/upsert-dataset-items",
        `"item_dataset_id":"${itemDatasetId}"`,
        "items",
        (id, of) => `{"item_id":"${id}","attributes":{"a":${of}}}`,
      ),
    ).toEqual(reasons(limits.recordBytes));
    expect(
      await send(
        "/upsert-dataset-events",
        `"event_dataset_id":"${eventDatasetId}"`,
        "events",
        (id, of) =>
          `{"event_id":"${id}","user_id":"${id}","item_id":"i","ts":1,"event_type":"view","attributes":{"a":${of}}}`,
      ),
    ).toEqual(reasons(limits.eventBytes));
  });

  test("an id that occurs twice counts once, and its last record wins", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const users = [{ userId: "a" }, { userId: "b" }, { userId: "a", attributes: { last: true } }];
    const reply = await api.call("upsertDatasetUsers", { userDatasetId, users });
    expect(reply.succeedIds).toEqual(["b", "a"]);
    expect(await status(userDatasetId)).toMatchObject({ records: 2 });
  });

  test("a stable hash of the id determines the shard of a record", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 4 });
    const users = Array.from({ length: 1000 }, (_, user) => ({ userId: `user ${user}` }));
    await api.call("upsertDatasetUsers", { userDatasetId, users });
    const { shards } = await status(userDatasetId);
    expect(shards).toHaveLength(4);
    for (const { records } of shards) expect(records).toBeGreaterThan(200);
    await api.call("upsertDatasetUsers", { userDatasetId, users });
    expect((await status(userDatasetId)).shards).toEqual(shards);
  });

  test("a call with more than 1000 records is rejected", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    const users = Array.from({ length: 1001 }, (_, user) => ({ userId: `${user}` }));
    await expect(api.call("upsertDatasetUsers", { userDatasetId, users })).rejects.toMatchObject({
      status: 400,
      error: { details: [{ path: "users" }] },
    });
  });

  test("an unknown dataset, or one of another kind, is named", async () => {
    const { userDatasetId } = await api.call("createUserDataset", { name: "users", numShards: 1 });
    await expect(
      api.call("upsertDatasetItems", { itemDatasetId: userDatasetId, items: [] }),
    ).rejects.toMatchObject({
      status: 404,
      error: { message: expect.stringContaining(userDatasetId) },
    });
  });
});
