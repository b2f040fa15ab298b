import { Writable } from "node:stream";
import { Running } from "../running";
import { openShop } from "../shop";

test("the log has one line per call and the reasons of rejected records, but neither their ids nor secrets", async () => {
  const lines: string[] = [];
  const log = new Writable({
    write: (line, _, done) => {
      lines.push(String(line));
      done();
    },
  });
  const api = await Running.start({ log });
  const { userDatasetId, projectId } = await openShop(api);
  const { headers } = { headers: await api.headers("/upsert-dataset-users") };
  await api.raw("/upsert-dataset-users", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ user_dataset_id: userDatasetId, users: [{ user_id: "odd", attributes: 1 }] }),
  });
  const long = { user_id: "x".repeat(100_000), ["y".repeat(100_000)]: 1 };
  await api.raw("/upsert-dataset-users", {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ user_dataset_id: userDatasetId, users: [long] }),
  });
  await api.raw(`/${"z".repeat(10_000)}`);
  const refused = await api.raw("/get-job?project_id=a&job_id=b", {
    headers: { ...headers, authorization: "Bearer oops" },
  });
  await api.raw(`/download/some?expires=1&signature=sign-${projectId}`);
  await api.end();
  const entries = lines.map((line) => JSON.parse(line));
  const call = entries.find(
    ({ requestId, msg }) => msg === "call" && requestId === refused.answered["x-request-id"],
  );
  expect(call).toMatchObject({ method: "GET", path: "/get-job", status: 401, ms: expect.any(Number) });
  expect(entries.find(({ msg }) => msg === "records rejected")).toMatchObject({
    datasetId: userDatasetId,
    failed: 1,
    faults: { attributes: 1 },
  });
  for (const line of lines) expect(line.length).toBeLessThan(2000);
  const all = lines.join("");
  const token = (headers.authorization as string).slice("Bearer ".length);
  expect(all).not.toContain("odd");
  for (const secret of [api.service.key, token, "oops", `sign-${projectId}`])
    expect(all).not.toContain(secret);
});
