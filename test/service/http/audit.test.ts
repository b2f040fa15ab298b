import { connect as dial } from "node:net";
import { Writable } from "node:stream";
import { routes } from "../../../contract";
import { withClients } from "../../../service";
import { Caller, Running } from "../running";

const lines: string[] = [];
const log = new Writable({
  write: (line, _, done) => {
    lines.push(String(line));
    done();
  },
});
const callers: Caller[] = [];
let api: Running;
beforeAll(async () => {
  api = await Running.start({ log, faults: true });
});
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.close()));
  await api.end();
});

const added = async (name: string, ...scopes: string[]) => {
  const { store } = api.options;
  const place = store === undefined ? { dataDir: api.service.dataDir } : { store };
  const { secret } = await withClients(place, (clients) => clients.add(name, scopes));
  const caller = new Caller({ url: api.service.url, key: secret }, name);
  callers.push(caller);
  return caller;
};
const token = (form: Record<string, string>) => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({ grant_type: "client_credentials", ...form }).toString(),
});

test("the log names the client, ids and address of each call, except for calls with records", async () => {
  const auditor = await added("auditor", "read", "write");
  const { eventDatasetId } = await auditor.call("createEventDataset", {
    name: "Secret name",
    numShards: 1,
  });
  await expect(auditor.call("getJob", { projectId: "project-1", jobId: "job-1" })).rejects.toThrow("404");
  await auditor.call("upsertDatasetEvents", {
    eventDatasetId,
    events: [
      { eventId: "e-1", userId: "ada-lovelace", itemId: "lp-1", ts: 1_700_000_000_000, eventType: "buy" },
    ],
  });
  await auditor.call("deleteDatasetUserEvents", { eventDatasetId, userId: "ada-lovelace" });
  await api.raw(
    "/oauth/token",
    token({
      client_id: "auditor",
      client_secret: auditor.service.key,
      scope: "/recommend-items-to-user",
    }),
  );
  await api.raw("/list-event-datasets", { headers: { "x-forwarded-for": "192.0.2.7" } });
  const audits = lines
    .map((line) => JSON.parse(line))
    .filter(({ audit }) => audit?.client === "auditor" || audit?.forwardedFor === "192.0.2.7");
  const from = { address: "127.0.0.1" };
  const ids = { event_dataset_id: eventDatasetId };
  const client = "auditor";
  const asked = (path: string) => ({ ...from, client, operation: "token", scope: path });
  const told = audits.map(({ audit, status, requestId }) => [audit, status, typeof requestId]);
  expect(told).toEqual([
    [asked("/create-event-dataset"), 200, "string"],
    [{ ...from, client, operation: "createEventDataset", ids }, 200, "string"],
    [asked("/get-job"), 200, "string"],
    [
      { ...from, client, operation: "getJob", ids: { project_id: "project-1", job_id: "job-1" } },
      404,
      "string",
    ],
    [asked("/upsert-dataset-events"), 200, "string"],
    [asked("/delete-dataset-user-events"), 200, "string"],
    [{ ...from, client, operation: "deleteDatasetUserEvents", ids }, 200, "string"],
    [asked("/recommend-items-to-user"), 403, "string"],
    [{ ...from, operation: "listEventDatasets", forwardedFor: "192.0.2.7" }, 401, "string"],
  ]);
  for (const content of ["Secret name", "ada-lovelace", "lp-1"])
    expect(lines.join("")).not.toContain(content);
});

test("a call is logged even if the client disconnects before the response", async () => {
  const { path } = routes.createUserDataset;
  await api.raw("/faults", {
    method: "PUT",
    headers: { apikey: api.service.key, "content-type": "application/json" },
    body: JSON.stringify({ calls: [{ path, delay_ms: 500, after: true }] }),
  });
  const hasty = await added("hasty", "write");
  const { apikey, authorization } = await hasty.headers(path);
  const body = JSON.stringify({ name: "hasty", num_shards: 1 });
  const socket = dial(Number(new URL(api.service.url).port), "127.0.0.1");
  const head = `POST ${path} HTTP/1.1\r\nHost: here\r\nAPIKey: ${apikey}\r\nAuthorization: ${authorization}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const until = async (holds: () => unknown) => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await until(async () => (await api.ask("select id from datasets where name = 'hasty'")).length);
  socket.destroy();
  await until(() => lines.some((line) => /"client":"hasty","ids":\{"user_dataset_id"/.test(line)));
});
