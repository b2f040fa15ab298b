import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Client } from "pg";
import { exportService, restoreService } from "../../../service";
import { newDatabase, testStore } from "../database";
import { Running } from "../running";
import { deploy, openShop, shopRecords, trainModel } from "../shop";
import { signIn } from "../visitor";

/** Id that cannot occur anywhere by chance. */
const user = "zq-erased-user-7";
const directory = mkdtempSync(join(tmpdir(), "erased-"));
afterAll(() => rmSync(directory, { recursive: true }));

const records = (() => {
  const { users, items, events } = shopRecords();
  const own = events
    .filter(({ userId }) => userId === "u3")
    .map((event) => ({ ...event, eventId: `${user}:${event.itemId}:${event.ts}`, userId: user }));
  return {
    users: [...users, { userId: user, attributes: { likes: "western", age: 33 } }],
    items,
    // Many rows, so pages of the database are split, merged and freed.
    events: [
      ...events,
      ...own,
      ...Array.from({ length: 300 }, (_, at) => ({
        ...{ eventId: `${user}:i${at % 60}:${at}`, userId: user, itemId: `i${at % 60}`, ts: at },
        ...{ eventType: "view", eventValue: 1 },
      })),
    ],
  };
})();

/** Returns all files below a directory, decompressed. */
function* filesBelow(path: string): Generator<[name: string, content: Buffer]> {
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    if (statSync(file).isDirectory()) yield* filesBelow(file);
    else yield [file, name.endsWith(".gz") ? gunzipSync(readFileSync(file)) : readFileSync(file)];
  }
}

/** Returns the files below a directory that contain the user's id. */
function filesNaming(path: string): string[] {
  return [...filesBelow(path)].filter(([, content]) => content.includes(user)).map(([name]) => name);
}

/** Returns the tables of a PostgreSQL database that contain the user's id in any column. */
async function tablesNaming(url: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const { rows: all } = await client.query(`select * from "${name}"`);
      const texts = all.flatMap((row) =>
        Object.values(row).map((value) =>
          Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value) ?? ""),
        ),
      );
      if (texts.some((text) => text.includes(user))) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
}

/** Searches all stored data of the service, and every console page that lists data. */
async function placesNaming(api: Running, dataDir: string, shop: Shop): Promise<string[]> {
  const found = filesNaming(dataDir);
  if (api.options.store !== undefined) found.push(...(await tablesNaming(api.options.store)));
  const headers = await signIn(api);
  const { projectId: project, userDatasetId, eventDatasetId } = shop;
  const { models } = await api.call("listModels", { projectId: project });
  const rows = (await api.ask("select id from jobs")) as { id: string }[];
  const pages = [
    "overview",
    "jobs",
    `models?project=${project}`,
    `serving?project=${project}`,
    `asking?project=${project}`,
    `records?id=${userDatasetId}`,
    `suggest?project=${project}&kind=user&text=zq`,
    ...[userDatasetId, eventDatasetId].map((id) => `dataset?id=${id}`),
    ...models.map(({ modelId }) => `model?id=${modelId}`),
    ...rows.flatMap(({ id }) => [`job?id=${id}`, `result?id=${id}`]),
  ];
  for (const page of pages) {
    const { text, status } = await api.raw(`/console/api/${page}`, { headers });
    // Results that list the user are gone, and a deleted dataset has no page.
    if (status !== 200 && !(status === 404 && /^(result|dataset)\?/.test(page)))
      throw new Error(`${page} answers ${status}: ${text}`);
    if (text.includes(user)) found.push(page);
  }
  return found;
}

type Shop = Awaited<ReturnType<typeof openShop>>;

/** Creates a shop with data of the user in every possible place. */
async function tracedShop(api: Running) {
  const shop = await openShop(api, records);
  const { projectId, eventDatasetId, userDatasetId } = shop;
  await api.call("upsertDatasetEvents", {
    eventDatasetId,
    events: [
      { eventId: `${user}:i1:bad`, userId: user, itemId: "i1", ts: -1, eventType: "purchase" },
    ] as never,
  });
  await api.call("upsertDatasetUsers", {
    userDatasetId,
    users: [{ userId: user, attributes: [] }] as never,
  });
  const modelId = await trainModel(api, shop);
  await deploy(api, projectId, modelId, { qps: 100_000 });
  await results(api, shop, modelId);
  return { shop, modelId };
}

/** Runs a user list and a clustering, whose results contain user ids. */
async function results(api: Running, { projectId }: Shop, modelId: string): Promise<void> {
  const query = {
    ...{ name: "who", projectId, modelId, queryType: "user_list" as const },
    queries: [{ conditions: [{ attribute: "genre", value: "western", lowerBound: 0 }] }],
  };
  for (const { jobId } of [
    await api.call("submitQueryingJob", query),
    await api.call("submitClusteringJob", {
      name: "groups",
      projectId,
      modelId,
      parameters: { minUserNum: 1 },
    }),
  ])
    expect((await api.finished(projectId, jobId)).jobStatus).toBe("SUCCEED");
}

async function erase(api: Running, { eventDatasetId, userDatasetId }: Shop): Promise<void> {
  await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: user });
  await api.call("deleteDatasetUser", { userDatasetId, userId: user });
}

let count = 0;
const newDir = () => {
  const dir = join(directory, String(count++));
  mkdirSync(dir);
  return dir;
};

/** Options for the location of a backup. */
const placeOf = (api: Running, dataDir: string) => ({
  dataDir,
  ...(api.options.store !== undefined && { store: api.options.store }),
});

/** Restores a backup into a new location and starts a service with it. */
async function restored<T>(
  backup: string,
  forgotten: readonly string[],
  work: (api: Running, dataDir: string) => Promise<T>,
): Promise<T> {
  const dataDir = newDir();
  const database = testStore === "directory" ? undefined : await newDatabase({ empty: true });
  const store = database && { store: database.url, key: "rk_the-key-of-the-tests" };
  try {
    await restoreService({ dataDir, ...store }, backup, () => undefined, forgotten);
    const api = await Running.start({ dataDir, log: "file", ...store });
    return await work(api, dataDir).finally(() => api.end());
  } finally {
    await database?.drop();
  }
}

test("an erased user appears nowhere: immediately, and after a restart, a training and a restore", async () => {
  const dataDir = newDir();
  let api = await Running.start({ dataDir, log: "file" });
  const { shop } = await tracedShop(api);
  expect(await placesNaming(api, dataDir, shop)).not.toEqual([]);
  const before = newDir();
  await exportService(placeOf(api, dataDir), before, () => undefined);
  expect(filesNaming(before)).not.toEqual([]);

  await erase(api, shop);
  expect(await placesNaming(api, dataDir, shop)).toEqual([]);
  const after = newDir();
  await exportService(placeOf(api, dataDir), after, () => undefined);
  expect(filesNaming(after)).toEqual([]);

  await api.end();
  expect(filesNaming(dataDir)).toEqual([]);
  api = await Running.start({ dataDir, log: "file" });
  expect(await placesNaming(api, dataDir, shop)).toEqual([]);

  await results(api, shop, await trainModel(api, shop));
  expect(await placesNaming(api, dataDir, shop)).toEqual([]);
  await api.end();

  for (const [backup, forgotten] of [
    [after, []],
    [before, [user]],
  ] as const)
    await restored(backup, forgotten, async (again, dir) => {
      expect(await placesNaming(again, dir, shop)).toEqual([]);
      await results(again, shop, await trainModel(again, shop));
      expect(await placesNaming(again, dir, shop)).toEqual([]);
    });
  // A backup contains the data from the time of the backup.
  await restored(before, [], async (again, dir) =>
    expect(await placesNaming(again, dir, shop)).not.toEqual([]),
  );
});

test("a user can be erased after the event dataset was deleted", async () => {
  const dataDir = newDir();
  let api = await Running.start({ dataDir, log: "file" });
  const { shop } = await tracedShop(api);
  const { eventDatasetId, projectId } = shop;
  const idsFor = async (userId: string) => {
    const base = `${api.service.url}/serving/${projectId}`;
    const { results } = await api.call("recommendItemsToUser", { userId, limit: 60 }, { base });
    return results.map(({ item }) => item.itemId);
  };
  await api.call("deleteEventDataset", { eventDatasetId });
  expect(await idsFor(user)).not.toEqual(await idsFor("stranger"));
  await erase(api, shop);
  expect(await idsFor(user)).toEqual(await idsFor("stranger"));
  expect(await placesNaming(api, dataDir, shop)).toEqual([]);
  await api.end();
  api = await Running.start({ dataDir, log: "file" });
  expect(await idsFor(user)).toEqual(await idsFor("stranger"));
  expect(await placesNaming(api, dataDir, shop)).toEqual([]);
  await api.end();
});

test("a user whose record stays is in no later model until there are new events, and then counts as new", async () => {
  const api = await Running.start({});
  const { shop } = await tracedShop(api);
  const { eventDatasetId, projectId, userDatasetId } = shop;
  const listed = async (modelId: string) => {
    const query = {
      ...{ name: "who", projectId, modelId, queryType: "user_list" as const },
      queries: [{ conditions: [{ attribute: "genre", value: "western", lowerBound: 0 }] }],
    };
    const { jobId } = await api.call("submitQueryingJob", query);
    const { jobResult } = await api.finished(projectId, jobId);
    return (await api.raw(jobResult?.downloadUrl as string)).body.queries[0].user_ids as string[];
  };
  await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: user });
  expect(await listed(await trainModel(api, shop))).not.toContain(user);
  const events = [{ eventId: "new", userId: user, itemId: "i3", ts: 5, eventType: "purchase" }];
  await api.call("upsertDatasetEvents", { eventDatasetId, events });
  expect(await listed(await trainModel(api, shop))).toContain(user);
  await api.call("deleteDatasetUserEvents", { eventDatasetId, userId: user });
  // Uploading the record again means that it may be used again.
  await api.call("upsertDatasetUsers", {
    userDatasetId,
    users: [{ userId: user, attributes: { likes: "drama" } }],
  });
  expect(await listed(await trainModel(api, shop))).toContain(user);
  await api.end();
});
