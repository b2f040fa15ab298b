import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  allEntries,
  type Entry,
  entriesOf,
  eraseStored,
  forget,
  put,
} from "../../../provider/recovery/journal";

const urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic:Resource::users";
const sent: Entry = {
  ...{ urn, service: "s", path: "/create-user-dataset", identity: "i", key: "k", derived: false },
  ...{ at: new Date().toISOString(), pid: process.pid, host: "here" },
};

let folder: string;
const before = process.env.XDG_STATE_HOME;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "recommender-journal-"));
  process.env.XDG_STATE_HOME = folder;
});

afterEach(() => {
  process.env.XDG_STATE_HOME = before;
  rmSync(folder, { recursive: true, force: true });
});

const files = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

test("what is recorded last counts", async () => {
  await put(sent);
  await put({ ...sent, id: "user-dataset-1" });
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("an outcome that was cut off at any byte is unknown, and the next one is read", async () => {
  await put(sent);
  const [file = ""] = files();
  const whole = readFileSync(file, "utf8").length;
  await put({ ...sent, id: "user-dataset-1" });
  const text = readFileSync(file, "utf8");
  for (let length = whole; length < text.length - 1; length++) {
    truncateSync(file, length);
    expect(entriesOf(urn)).toEqual([sent]);
    await put({ ...sent, id: "user-dataset-2" });
    expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-2" }]);
    writeFileSync(file, text);
  }
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("a file of which nothing can be read stops its own resource and no other", async () => {
  const other = { ...sent, urn: `${urn}-other` };
  await put(sent);
  writeFileSync(files()[0] as string, "{");
  await put(other);
  expect(() => entriesOf(urn)).toThrow(
    /cannot read the recovery journal .*recommender interrupted --forget/s,
  );
  expect(allEntries()).toEqual([other]);
});

test("a file of 0.1.0, which has one line without an end, is read and added to", async () => {
  await put(sent);
  const [file = ""] = files();
  writeFileSync(file, JSON.stringify(sent));
  expect(entriesOf(urn)).toEqual([sent]);
  await put({ ...sent, id: "user-dataset-1" });
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("entries of one resource that come and go at once leave each other alone, and nothing behind", async () => {
  const entries = Array.from({ length: 40 }, (_, n) => ({
    ...sent,
    identity: `i${n}`,
    id: `user-dataset-${n}`,
  }));
  await Promise.all(
    entries.map(async (entry) => {
      await put(entry);
      expect(entriesOf(urn)).toContainEqual(entry);
      await forget(entry);
    }),
  );
  expect(readdirSync(join(folder, "pulumi-recommender/creations"))).toEqual([]);
});

test("what the state holds is erased, with the jobs that failed before it; the rest is returned", async () => {
  const at = (seconds: number) => new Date(seconds * 1000 + Date.now()).toISOString();
  const failed = { ...sent, identity: "1", derived: true, id: "job-1", at: at(1) };
  const stored = { ...sent, identity: "2", derived: true, id: "job-2", at: at(2) };
  const other = { ...sent, identity: "3", id: "job-3", at: at(3) };
  for (const entry of [failed, stored, other]) await put(entry);
  appendFileSync(files()[0] as string, "\n");
  expect(await eraseStored(urn, new Set(["job-2"]))).toEqual([other]);
  expect(entriesOf(urn)).toEqual([other]);
});
