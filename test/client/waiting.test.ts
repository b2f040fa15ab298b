import { routes } from "../../contract";
import { type Answer, clientOf, reply, scriptedServer } from "./server";

const create = { name: "n", numShards: 1 };
const hang: Answer = () => undefined;

let server: Awaited<ReturnType<typeof scriptedServer>>;
afterEach(() => server?.close());

test("a call waits two minutes for a service that has responded before, and reports the wait", async () => {
  server = await scriptedServer(reply(200, { event_datasets: [] }));
  const messages: string[] = [];
  const { client, clock } = clientOf(server, { onWait: (message) => messages.push(message) });
  await client.call(routes.listEventDatasets, {});
  await server.close();
  const began = clock.now();
  await expect(client.call(routes.createEventDataset, create)).rejects.toThrow(/refuses connections/);
  expect(clock.now() - began).toBeGreaterThan(90_000);
  expect(messages[0]).toMatch(
    /^waiting for the service: http:\S+ refuses connections \(ECONNREFUSED\); \d+ s so far, at most 120 s$/,
  );
  expect(messages.length).toBeLessThan(15);
});

test("a call without a response for seconds is reported while it waits", async () => {
  server = await scriptedServer(hang);
  const aborted = new AbortController();
  const message = await new Promise((onWait) => {
    const { client } = clientOf(server, { onWait });
    void client.call(routes.createEventDataset, create, { signal: aborted.signal }).catch(() => {});
  });
  aborted.abort();
  expect(message).toMatch(
    /^waiting for the service: no response to POST \S+ yet \(http:\S+\); \d+ s so far, at most 120 s$/,
  );
});

test("reading the list of extensions without a response for seconds is reported while it waits", async () => {
  server = await scriptedServer(hang);
  const message = await new Promise((onWait) => {
    const { client } = clientOf(server, { onWait });
    void client.supports(routes.countDatasetRecords).catch(() => {});
  });
  expect(message).toMatch(
    /^waiting for the service: no response to GET \/healthz yet \(http:\S+\); \d+ s so far/,
  );
});
