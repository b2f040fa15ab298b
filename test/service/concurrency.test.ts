import { type Call, type EndedJob, haveAnOrder as haveADeploymentOrder } from "./deployment-order";
import { eventually } from "./jobs/watched";
import { Refusal, Running } from "./running";
import { openShop, trainModel } from "./shop";

const clients = Array.from({ length: 16 }, (_, client) => client);

/** Makes a call from all clients at once. Returns the replies and the error codes. */
async function together<T>(call: (client: number) => Promise<T>): Promise<{ replies: T[]; codes: string[] }> {
  const replies: T[] = [];
  const codes: string[] = [];
  const refused = (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    codes.push(error.error.code);
  };
  await Promise.all(clients.map((client) => call(client).then((reply) => replies.push(reply), refused)));
  return { replies, codes };
}

/** A call that wrote some ids, with its start and end. */
interface Write {
  readonly ids: ReadonlySet<string>;
  readonly began: number;
  ended: number;
}

/** Whether the final values can result from some order of the writes that agrees with their start and end times. */
function haveAnOrder(writes: readonly Write[], last: ReadonlyMap<string, number>): boolean {
  const before = writes.map(
    (write, at) =>
      new Set(
        [...writes.keys()].filter(
          (other) =>
            other !== at &&
            ((writes[other] as Write).ended < write.began ||
              [...write.ids].some((id) => last.get(id) === at && writes[other]?.ids.has(id))),
        ),
      ),
  );
  const left = new Set(writes.keys());
  for (;;) {
    const next = [...left].filter((at) => ![...(before[at] as Set<number>)].some((other) => left.has(other)));
    if (next.length === 0) return left.size === 0;
    for (const at of next) left.delete(at);
  }
}

describe("16 clients at once", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start({ planShards: 40 });
  });
  afterAll(() => api.end());

  const datasetOf = async (id: string) => {
    const { body } = await api.raw("/status", { headers: { apikey: api.service.key } });
    return body.datasets.find((dataset: { id: string }) => dataset.id === id);
  };
  const numberOf = async (id: string) => {
    const [row] = await api.ask(`select number from datasets where id = '${id}'`);
    return Number((row as { number: number }).number);
  };
  const event = (eventId: string, ts = 1) => ({ eventId, userId: "u", itemId: "i", ts, eventType: "view" });

  /** Lets all clients write the same ids many times. Each write has a number as its mark. */
  async function writeMuch(upsert: (ids: string[], mark: number) => Promise<{ succeedIds: string[] }>) {
    const writes: Write[] = [];
    await Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < 5; round++) {
          const ids = Array.from({ length: 30 }, (_, at) => `e${(client * 7 + round * 13 + at * 11) % 100}`);
          const write = { ids: new Set(ids), began: performance.now(), ended: 0 };
          const mark = writes.push(write) - 1;
          // In random order, as clients send ids.
          const { succeedIds } = await upsert(client % 2 === 0 ? ids : ids.reverse(), mark);
          write.ended = performance.now();
          expect(succeedIds).toHaveLength(30);
        }
      }),
    );
    return writes;
  }

  test("upsert the same events: the result agrees with some order of the calls, and each event counts once", async () => {
    const fields = { name: "same", numShards: 4 };
    const { eventDatasetId } = await api.call("createEventDataset", fields);
    const writes = await writeMuch((ids, mark) =>
      api.call("upsertDatasetEvents", { eventDatasetId, events: ids.map((id) => event(id, mark)) }),
    );
    const rows = (await api.ask(
      `select event_id, ts from events where dataset = ${await numberOf(eventDatasetId)}`,
    )) as { event_id: string; ts: number }[];
    const last = new Map(rows.map(({ event_id, ts }) => [event_id, Number(ts)]));
    const { eventDatasetId: calm } = await api.call("createEventDataset", fields);
    await api.call("upsertDatasetEvents", {
      eventDatasetId: calm,
      events: [...last.keys()].map((id) => event(id)),
    });

    expect(new Set(last.keys())).toEqual(new Set(writes.flatMap(({ ids }) => [...ids])));
    expect(haveAnOrder(writes, last)).toBe(true);
    expect((await datasetOf(eventDatasetId)).shards).toEqual((await datasetOf(calm)).shards);
  });

  test("upsert the same items: the result agrees with some order of the calls", async () => {
    const { itemDatasetId } = await api.call("createItemDataset", { name: "same", numShards: 4 });
    const writes = await writeMuch((ids, mark) =>
      api.call("upsertDatasetItems", {
        itemDatasetId,
        items: ids.map((itemId) => ({ itemId, attributes: { mark } })),
      }),
    );
    const rows = (await api.ask(
      `select record_id, attributes from records where dataset = ${await numberOf(itemDatasetId)}`,
    )) as { record_id: string; attributes: string }[];
    const last = new Map(rows.map((row) => [row.record_id, JSON.parse(row.attributes).mark as number]));

    expect(haveAnOrder(writes, last)).toBe(true);
    expect((await datasetOf(itemDatasetId)).records).toBe(last.size);
  });

  test("create with the same idempotency key: one object and one reply; a different body is rejected", async () => {
    const headers = { "idempotency-key": "the same" };
    const { replies, codes } = await together((client) =>
      api.call("createItemDataset", { name: `body ${client % 2}`, numShards: 1 }, { headers }),
    );

    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
    expect(replies).toHaveLength(8);
    expect(codes).toEqual(Array(8).fill("IDEMPOTENCY_CONFLICT"));
    expect(await api.ask("select id from datasets where name like 'body %'")).toEqual([
      { id: replies[0]?.itemDatasetId },
    ]);
  });

  test("create more than the plan allows: as many as fit", async () => {
    const used = await usedShards();
    const room = Math.floor((40 - used) / 3);
    const { replies, codes } = await together((client) =>
      api.call("createEventDataset", { name: `planned ${client}`, numShards: 3 }),
    );

    expect(replies).toHaveLength(room);
    expect(codes).toEqual(Array(16 - room).fill("PLAN_EXCEEDED"));
    expect(await usedShards()).toBe(used + 3 * room);
    for (const { eventDatasetId } of replies) await api.call("deleteEventDataset", { eventDatasetId });
  });

  const usedShards = async () =>
    (await api.call("listEventDatasets", {})).eventDatasets.reduce(
      (sum, dataset) => sum + Number(dataset.numShards),
      0,
    );

  test.each(["event", "item"] as const)(
    "write more than a dataset holds: as many new %ss as fit, and all are told the same",
    async (kind) => {
      const id = await createNearlyFull(kind, 50);
      const outcomes: [string, boolean][] = [];
      await together(async (client) => {
        const ids = Array.from({ length: 10 }, (_, at) => `r${(client * 8 + at) % 120}`);
        const { succeedIds, failedIds } = await upsertInto(kind, id, ids);
        for (const one of succeedIds) outcomes.push([one, true]);
        for (const one of failedIds ?? []) outcomes.push([one, false]);
      });

      const stored = await idsIn(kind, await numberOf(id));
      expect(stored).toHaveLength(50);
      for (const [one, isIn] of outcomes) expect([one, isIn]).toEqual([one, stored.includes(one)]);
      expect((await datasetOf(id)).records).toBe(100_000);
    },
  );

  async function createNearlyFull(kind: "event" | "item", free: number): Promise<string> {
    const fields = { name: "full", numShards: 1 };
    const id =
      kind === "event"
        ? (await api.call("createEventDataset", fields)).eventDatasetId
        : (await api.call("createItemDataset", fields)).itemDatasetId;
    await api.ask(
      `insert into shards (dataset, shard, records) values (${await numberOf(id)}, 0, ${100_000 - free})`,
    );
    return id;
  }

  const upsertInto = (kind: "event" | "item", id: string, ids: string[]) =>
    kind === "event"
      ? api.call("upsertDatasetEvents", { eventDatasetId: id, events: ids.map((one) => event(one)) })
      : api.call("upsertDatasetItems", {
          itemDatasetId: id,
          items: ids.map((itemId) => ({ itemId, attributes: {} })),
        });

  async function idsIn(kind: "event" | "item", number: number): Promise<string[]> {
    const [column, table] = kind === "event" ? ["event_id", "events"] : ["record_id", "records"];
    const rows = await api.ask(`select ${column} as id from ${table} where dataset = ${number}`);
    return (rows as { id: string }[]).map(({ id }) => id);
  }

  test("write to an event dataset while others delete it: one deletes it, and nothing is left", async () => {
    const { eventDatasetId } = await api.call("createEventDataset", { name: "doomed", numShards: 4 });
    const number = await numberOf(eventDatasetId);
    let deleted = Number.POSITIVE_INFINITY;
    const late: unknown[] = [];
    const { replies, codes } = await together(async (client) => {
      if (client >= 12) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        const reply = await api.call("deleteEventDataset", { eventDatasetId });
        deleted = performance.now();
        return reply;
      }
      for (let round = 0; ; round++) {
        const began = performance.now();
        const events = Array.from({ length: 100 }, (_, at) => event(`d${client}-${round}-${at}`));
        const reply = await api.call("upsertDatasetEvents", { eventDatasetId, events });
        if (began > deleted) late.push(reply);
      }
    });

    expect(replies).toEqual([{ eventDatasetId, name: "doomed", numShards: 4, attributeSchema: null }]);
    expect(codes).toEqual(Array(15).fill("NOT_FOUND"));
    expect(late).toEqual([]);
    const left = async () =>
      (await api.ask(
        `select 1 from events where dataset = ${number} union all select 1 from shards where dataset = ${number}`,
      )) as unknown[];
    await eventually(async () => (await left()).length === 0);
  });

  test("deploy models while others delete them: the outcomes agree with some order, and the last deployment is live", async () => {
    const shop = await openShop(api);
    const { projectId } = shop;
    const models = [await trainModel(api, shop), await trainModel(api, shop), await trainModel(api, shop)];
    const calls: Call[] = [];
    const { codes } = await together(async (client) => {
      const modelId = models[client % 3] as string;
      // Some deletions come first and some last.
      if (client % 5 > 0) await new Promise((resolve) => setTimeout(resolve, client * 10));
      const does = client % 2 === 0 ? "deploy" : "delete";
      const began = Date.now();
      const seen = (outcome: string) => calls.push({ does, modelId, began, ended: Date.now(), outcome });
      const wanted = { projectId, name: `live ${client}`, generatorModelId: modelId, qps: 1000 };
      const called =
        does === "deploy"
          ? api.call("submitDeploymentJob", wanted).then(({ jobId }) => jobId)
          : api.call("deleteModel", { projectId, modelId }).then(() => "deleted");
      await called.then(seen, (error: Refusal) => {
        seen(error.error?.code);
        throw error;
      });
    });
    await api.service.idle();

    for (const code of codes) expect(["NOT_FOUND", "MODEL_DEPLOYED"]).toContain(code);
    const jobs = (await api.ask(
      `select id, number, status, finished_ts from jobs
       where project_id = '${projectId}' and job_type = 'DEPLOYMENT' order by number`,
    )) as EndedJob[];
    const outcomeOf = (does: string) =>
      calls.filter((call) => call.does === does).map(({ outcome }) => outcome);
    expect(jobs.map(({ id }) => id).sort()).toEqual(
      outcomeOf("deploy")
        .filter((outcome) => outcome !== "NOT_FOUND")
        .sort(),
    );
    const [row] = (await api.ask(`select * from deployments where project_id = '${projectId}'`)) as {
      job_id: string;
      generator_model_id: string;
    }[];
    expect(row?.job_id).toBe(jobs.filter(({ status }) => status === "SUCCEED").at(-1)?.id);
    expect(haveADeploymentOrder(calls, jobs, row?.job_id)).toBe(true);

    const gone = calls.filter(({ outcome }) => outcome === "deleted").map(({ modelId }) => modelId);
    const listed = (await api.call("listModels", { projectId })).models.map(({ modelId }) => modelId);
    expect(listed).toEqual(models.filter((id) => !gone.includes(id)));
    if (row) expect(listed).toContain(row.generator_model_id);
    for (const { id } of jobs) {
      const { jobStatus, jobResult } = await api.finished(projectId, id);
      const { modelId } = calls.find(({ outcome }) => outcome === id) as Call;
      if (jobStatus === "FAILED") expect(jobResult?.message).toMatch(new RegExp(`${modelId}.*was deleted`));
    }
    const asked = api.call("recommendItemsToUser", { userId: "u1" });
    if (row) expect((await asked).results.length).toBeGreaterThan(0);
    else await expect(asked).rejects.toMatchObject({ error: { code: "NOT_DEPLOYED" } });
  });
});
