import { ManualClock } from "../manual-clock";
import { Running } from "../running";

describe("idempotency keys", () => {
  const clock = new ManualClock();
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ clock });
  });
  afterAll(() => api.end());

  const create = async (key: string, name: string) =>
    api.raw("/create-event-dataset", {
      method: "POST",
      headers: {
        ...(await api.headers("/create-event-dataset")),
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ name, num_shards: 1, attribute_schema: null }),
    });
  const named = async (name: string) =>
    (await api.call("listEventDatasets", {})).eventDatasets.filter((dataset) => dataset.name === name).length;

  test("every response has the header that announces them", async () => {
    expect((await create("k0", "said")).answered["accept-idempotency-key"]).toBe("POST");
    const refused = await api.raw("/nowhere");
    expect(refused.answered["accept-idempotency-key"]).toBe("POST");
    expect(refused.answered["x-request-id"]).toBe(refused.body.error.request_id);
  });

  test("the same key and body return the first response again", async () => {
    const first = await create("k1", "once");
    const second = await create("k1", "once");
    expect(second.body).toEqual(first.body);
    expect(first.answered["idempotent-replayed"]).toBeUndefined();
    expect(second.answered["idempotent-replayed"]).toBe("true");
    expect(await named("once")).toBe(1);
  });

  test("the same key with another body is rejected", async () => {
    await create("k2", "one");
    expect(await create("k2", "two")).toMatchObject({
      status: 422,
      body: { error: { code: "IDEMPOTENCY_CONFLICT" } },
    });
    expect(await named("two")).toBe(0);
  });

  test("concurrent calls with one key run once", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create("k3", "together")));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await named("together")).toBe(1);
  });

  test("a rejected call can be corrected and sent with the same key", async () => {
    expect((await create("k4", "")).status).toBe(400);
    expect((await create("k4", "mended")).status).toBe(200);
  });

  test("a key expires after a day", async () => {
    await create("k5", "daily");
    clock.advance(24 * 60 * 60 * 1000);
    api.forgetTokens();
    await create("k5", "daily");
    expect(await named("daily")).toBe(2);
  });
});
