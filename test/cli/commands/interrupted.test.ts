import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { digest } from "../../../client/state-directory";
import { allEntries, entriesOf, type JournalEntry, write } from "../../../provider/recovery/journal";
import { run } from "../../service/process";

const urn = (name: string) => `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/recommender:UserDataset::${name}`;
/** Returns the date `daysAgo` days before today. */
const dayOf = (daysAgo: number) => new Date(Date.now() - daysAgo * 24 * 3_600_000).toISOString().slice(0, 10);
const entry = (name: string, more: Partial<JournalEntry> = {}): JournalEntry => ({
  urn: urn(name),
  service: "http://127.0.0.1:9",
  path: "/create-user-dataset",
  identity: name,
  key: name,
  derived: false,
  request: { name, numShards: 1 },
  at: `${dayOf(3)}T10:00:00.000Z`,
  pid: 1,
  host: "elsewhere",
  backend: "s3://states",
  ...more,
});

// Do not depend on the state of other tests.
const stateHome = mkdtempSync(join(tmpdir(), "recommender-state-"));
process.env.XDG_STATE_HOME = stateHome;
process.env.PULUMI_BACKEND_URL = "s3://states";
afterAll(() => rmSync(stateHome, { recursive: true }));

test("creates of killed runs are listed with their ids until they are forgotten", async () => {
  await write(entry("made", { id: "user-dataset-1", reply: { userDatasetId: "user-dataset-1" } }));
  await write(entry("lost", { at: `${dayOf(2)}T10:00:00.000Z` }));
  const { out } = await run("interrupted");
  expect(out).toBe(
    [
      `UserDataset made of stack dev, ${dayOf(3)}T10:00:00Z`,
      "  created user-dataset-1",
      "  POST /create-user-dataset",
      "  to http://127.0.0.1:9",
      "  backend s3://states",
      "",
      `UserDataset lost of stack dev, ${dayOf(2)}T10:00:00Z`,
      "  may have been created; no response arrived",
      "  POST /create-user-dataset",
      "  to http://127.0.0.1:9",
      "  backend s3://states",
      "",
    ].join("\n"),
  );
  expect(await run("interrupted", "--forget")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("confirm with --yes"),
  });
  const { interrupted } = JSON.parse((await run("interrupted", "--json", "--forget", "--yes")).out);
  expect(interrupted).toMatchObject([
    { urn: urn("made"), id: "user-dataset-1", running: false },
    { urn: urn("lost"), id: null },
  ]);
  expect([...entriesOf(urn("made")), ...entriesOf(urn("lost"))]).toEqual([]);
});

test("shows the address, and keeps entries of running processes", async () => {
  const service = digest("https://api.example.com");
  const now = new Date().toISOString();
  await write(
    entry("alive", { service, address: "https://api.example.com", host: hostname(), pid: process.pid }),
  );
  await write(entry("elsewhere", { at: now }));
  await write(entry("over", { service, host: hostname(), pid: 2 ** 22 + 1 }));
  const { out } = await run("interrupted", "--forget", "--yes");
  expect(out).toContain("  to https://api.example.com\n");
  expect(out).not.toContain(service);
  expect(out).toContain(
    `process ${process.pid} on ${hostname()} may still be running, so this is not forgotten`,
  );
  expect(
    allEntries()
      .map(({ key }) => key)
      .sort(),
  ).toEqual(["alive", "elsewhere"]);
});
