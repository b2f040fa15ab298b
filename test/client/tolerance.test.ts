import type { Client } from "../../client/client";
import { algorithmFields, encode, eventRecord, limits, routes, tolerant, wireSchema } from "../../contract";
import { recordKindAt, recordKinds } from "../../records/kind";
import { contentHash, findFiles } from "../../records/source";
import { upload } from "../../records/upload";
import { TestDirectory } from "../records/test-directory";
import { clientOf, reply, scriptedServer } from "./server";

const usage = { attribute: "genre", value: "jazz" };
const directory = new TestDirectory();
let server: Awaited<ReturnType<typeof scriptedServer>>;
let client: Client;

// The service in this package rejects all of these requests.
beforeAll(async () => {
  const ids = { succeed_ids: ["u".repeat(300)], failed_ids: [] };
  const answer = { user_dataset_id: "d", algorithm_id: "a", job_id: "j", results: [], ...ids };
  server = await scriptedServer(reply(200, answer));
  client = clientOf(server).client;
});
afterAll(async () => {
  await client.close();
  await server.close();
  directory.remove();
});

const received = () => server.arrived.at(-1)?.body;

test("the client sends requests beyond the limits of the service in this package, because other services may accept them", async () => {
  await client.call(routes.createUserDataset, { name: "n".repeat(300), numShards: 20_000 });
  expect(received()).toMatchObject({ name: "n".repeat(300), num_shards: 20_000 });

  const users = [{ userId: "u".repeat(300), attributes: { text: "x".repeat(100_000) } }];
  await client.call(routes.upsertDatasetUsers, { userDatasetId: "d", users });
  expect(received()).toMatchObject({
    users: [{ user_id: "u".repeat(300), attributes: users[0].attributes }],
  });

  const algorithmParameters = { factors: 64, dimensions: 1024, lossName: "bpr" };
  await client.call(routes.createAlgorithm, { projectId: "p", name: "a", algorithmParameters });
  expect(received()).toMatchObject({ algorithm_type: "G1", algorithm_parameters: algorithmParameters });

  const conditions = Array.from({ length: 50 }, () => ({ ...usage, lowerBound: 20, upperBound: 60 }));
  const queries = Array.from({ length: 150 }, () => ({ conditions }));
  const of = { projectId: "p", modelId: "m", name: "q" };
  await client.call(routes.submitQueryingJob, { ...of, queryType: "user_list", queries });
  expect(received()).toMatchObject({ queries: { length: 150, 0: { conditions: { length: 50 } } } });
  const distribution = [{ ...usage, bins: 5000 }];
  await client.call(routes.submitQueryingJob, {
    ...of,
    queryType: "user_distribution",
    queries: distribution,
  });
  expect(received()).toMatchObject({ queries: distribution });

  await client.call(routes.recommendItemsToUser, { userId: "u", limit: 5000 });
  expect(received()).toMatchObject({ limit: 5000, attributes: [] });
});

test("an upload also sends records beyond these limits, except to an embedded service", async () => {
  const line = JSON.stringify({ user_id: "u".repeat(300), attributes: { text: "x".repeat(100_000) } });
  const files = await findFiles(directory.write("users.ndjson", `${line}\n`));
  const uploadTo = async (baseUrl: string) =>
    upload({
      client,
      files,
      kind: recordKindAt(baseUrl, recordKinds.users),
      datasetId: "d",
      mapping: {},
      owner: baseUrl,
      rejectsFile: `${directory.path}/rejects`,
      maxFailures: 0,
      parallel: 1,
      contentHash: await contentHash(files, {}),
    });
  expect(await uploadTo(server.url)).toMatchObject({ recordCount: 1, failedCount: 0 });
  await expect(uploadTo("embedded:data")).rejects.toThrow("user_id: expected at most 256 characters");
});

test("limits of the specification apply to every service", async () => {
  const event = { eventId: "e", userId: "u", itemId: "i", ts: 1, eventType: "t" };
  const events = Array.from({ length: limits.recordsPerUpsert + 1 }, () => event);
  const upsert = (sent: object[]) =>
    client.call(routes.upsertDatasetEvents, { eventDatasetId: "d", events: sent as (typeof event)[] });
  await expect(upsert(events)).rejects.toThrow("1,000");
  await expect(upsert([{ ...event, ts: -1 }])).rejects.toThrow("ts");
  await expect(upsert([{ ...event, more: 1 }])).rejects.toThrow("more");
  expect(recordKindAt(server.url, recordKinds.events).maxBytes).toBe(limits.eventBytes);
});

test("the original schema stays strict, in programs and on the wire", () => {
  const event = {
    event_id: "e".repeat(limits.eventIdBytes + 1),
    user_id: "u".repeat(limits.idCharacters + 1),
    item_id: "i",
    ts: 1,
    event_type: "t".repeat(limits.nameCharacters + 1),
    event_value: -2 * limits.eventValue,
  };
  const { issues = [] } = wireSchema(eventRecord).safeParse(event).error ?? {};
  const rejected = new Set(issues.map(({ path }) => path[0]));
  expect([...rejected]).toEqual(["event_id", "user_id", "event_type", "event_value"]);
  expect(wireSchema(tolerant(eventRecord)).parse(event)).toEqual({ ...event, attributes: {} });
  const algorithm = { projectId: "p", name: "a", algorithmParameters: { factors: 64 } };
  expect(algorithmFields.safeParse(algorithm).success).toBe(false);
  const open = tolerant(algorithmFields);
  expect(encode(open, open.parse(algorithm))).toMatchObject({ algorithm_parameters: { factors: 64 } });
});
