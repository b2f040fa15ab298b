import { Running } from "../running";

describe("datasets", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ planShards: 20 });
  });
  afterAll(() => api.end());

  test("each kind is created with a unique id, and the response contains its arguments", async () => {
    const fields = {
      name: "things",
      numShards: 3,
      attributeSchema: { age: "NUMERICAL", __proto__x: "CATEGORICAL" },
    } as const;
    const user = await api.call("createUserDataset", fields);
    const item = await api.call("createItemDataset", fields);
    const event = await api.call("createEventDataset", fields);
    expect(user).toMatchObject(fields);
    expect(item).toMatchObject(fields);
    expect(event).toMatchObject(fields);
    expect(new Set([user.userDatasetId, item.itemDatasetId, event.eventDatasetId]).size).toBe(3);
  });

  test("an event dataset is read, renamed, given a new schema, listed and deleted", async () => {
    const { eventDatasetId } = await api.call("createEventDataset", { name: "clicks", numShards: 2 });
    const created = { eventDatasetId, name: "clicks", numShards: 2, attributeSchema: null };
    expect(await api.call("getEventDataset", { eventDatasetId })).toEqual(created);
    const changed = { eventDatasetId, name: "views", attributeSchema: { price: "NUMERICAL" } } as const;
    expect(await api.call("updateEventDataset", changed)).toEqual({ ...changed, numShards: 2 });
    const { eventDatasets } = await api.call("listEventDatasets", {});
    expect(eventDatasets).toContainEqual({ ...changed, numShards: 2 });
    expect(await api.call("deleteEventDataset", { eventDatasetId })).toEqual({ ...changed, numShards: 2 });
    await expect(api.call("getEventDataset", { eventDatasetId })).rejects.toMatchObject({ status: 404 });
    await expect(api.call("deleteEventDataset", { eventDatasetId })).rejects.toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND", message: expect.stringContaining(eventDatasetId) },
    });
  });

  test("num_shards cannot be changed", async () => {
    const { eventDatasetId } = await api.call("createEventDataset", { name: "fixed", numShards: 1 });
    const headers = await api.headers("/update-event-dataset");
    const { status, body } = await api.raw("/update-event-dataset", {
      method: "PUT",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        event_dataset_id: eventDatasetId,
        name: "fixed",
        attribute_schema: null,
        num_shards: 2,
      }),
    });
    expect(status).toBe(400);
    expect(body.error.details[0].message).toContain("num_shards");
    expect(await api.call("getEventDataset", { eventDatasetId })).toMatchObject({ numShards: 1 });
  });

  test("the plan limits the total shards of event datasets, and a deletion frees shards", async () => {
    const { eventDatasets } = await api.call("listEventDatasets", {});
    const used = eventDatasets.reduce((sum, { numShards }) => sum + (numShards as number), 0);
    const { eventDatasetId } = await api.call("createEventDataset", { name: "rest", numShards: 20 - used });
    await expect(api.call("createEventDataset", { name: "more", numShards: 1 })).rejects.toMatchObject({
      status: 409,
      error: { code: "PLAN_EXCEEDED", message: expect.stringContaining("20") },
    });
    await api.call("createUserDataset", { name: "not counted", numShards: 50 });
    await api.call("deleteEventDataset", { eventDatasetId });
    await api.call("createEventDataset", { name: "more", numShards: 1 });
  });
});
