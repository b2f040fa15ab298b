import { ManualClock } from "../manual-clock";
import { Running } from "../running";

describe("/faults", () => {
  const clock = new ManualClock();
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ faults: true, clock });
  });
  afterAll(() => api.end());

  const put = (faults: object, to = api) =>
    to.raw("/faults", {
      method: "PUT",
      headers: { apikey: to.service.key, "content-type": "application/json" },
      body: JSON.stringify(faults),
    });
  const list = () => api.call("listEventDatasets", {});
  const create = (name: string) => api.call("createEventDataset", { name, numShards: 1 });

  test("cannot be injected unless the service was started with faults", async () => {
    const plain = await Running.start();
    expect(await put({}, plain)).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining("--faults") } },
    });
    await plain.end();
  });

  test("cannot be injected through a proxy", async () => {
    for (const header of ["x-forwarded-for", "forwarded", "via"]) {
      const { status, body } = await api.raw("/faults", {
        headers: { apikey: api.service.key, [header]: "203.0.113.7" },
      });
      expect([status, body.error.message]).toEqual([
        403,
        expect.stringContaining("from the machine of the service"),
      ]);
    }
  });

  test("fail a path with a status, a given number of times", async () => {
    await put({ calls: [{ path: "/list-event-datasets", times: 2, status: 503 }] });
    await create("unharmed");
    await expect(list()).rejects.toMatchObject({ status: 503 });
    await expect(list()).rejects.toMatchObject({ status: 503 });
    await list();
  });

  test("close the connection before or after the call has run", async () => {
    await put({ calls: [{ path: "/create-event-dataset", reset: true }] });
    await expect(create("before")).rejects.toThrow(/other side closed|socket|ECONNRESET/);
    await put({ calls: [{ path: "/create-event-dataset", reset: true, after: true }] });
    await expect(create("after")).rejects.toThrow(/other side closed|socket|ECONNRESET/);
    const names = (await list()).eventDatasets.map(({ name }) => name);
    expect(names).toContain("after");
    expect(names).not.toContain("before");
  });

  test("delay a response", async () => {
    await put({ calls: [{ path: "*", delay_ms: 5000 }] });
    let answered = false;
    const answer = list().then(() => {
      answered = true;
    });
    await api.raw("/status", { headers: { apikey: api.service.key } });
    expect(answered).toBe(false);
    while ((await api.raw("/faults", { headers: { apikey: api.service.key } })).body.calls.length > 0);
    clock.advance(5000);
    await answer;
  });

  test("are listed, validated, and removed by an empty object", async () => {
    expect((await put({ calls: [{ path: "*", status: 200 }] })).status).toBe(400);
    const { body } = await put({ jobs: [{ job_type: "TRAINING", times: 2 }], job_delay_ms: 10 });
    expect(body).toMatchObject({ calls: [], jobs: [{ job_type: "TRAINING", times: 2 }], job_delay_ms: 10 });
    expect((await put({})).body).toEqual({ calls: [], jobs: [], job_delay_ms: 0 });
  });
});
