import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { digest } from "../../../client/state-directory";
import {
  allEntries,
  entriesOf,
  entriesOfOtherStacks,
  erase,
  eraseStored,
  type JournalEntry,
  moveEntry,
  write,
} from "../../../provider/recovery/journal";

const urn = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic:Resource::users";
const sent: JournalEntry = {
  ...{ urn, service: "s", path: "/create-user-dataset", identity: "i", key: "k", derived: false },
  ...{ at: new Date().toISOString(), pid: process.pid, host: "here", backend: "s3://states/shop" },
};

let directory: string;
const before = process.env.XDG_STATE_HOME;
const home = mkdtempSync(join(tmpdir(), "recommender-home-"));

beforeAll(() => {
  Object.assign(process.env, { PULUMI_BACKEND_URL: "s3://states/shop", PULUMI_HOME: home });
});

afterAll(() => {
  delete process.env.PULUMI_BACKEND_URL;
  delete process.env.PULUMI_HOME;
  rmSync(home, { recursive: true });
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "recommender-journal-"));
  process.env.XDG_STATE_HOME = directory;
});

afterEach(() => {
  process.env.XDG_STATE_HOME = before;
  rmSync(directory, { recursive: true, force: true });
});

const files = () =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

test("the last line of a file counts", async () => {
  await write(sent);
  await write({ ...sent, id: "user-dataset-1" });
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("an outcome that is truncated at any byte is unknown, and the next outcome is read", async () => {
  await write(sent);
  const [file = ""] = files();
  const whole = readFileSync(file, "utf8").length;
  await write({ ...sent, id: "user-dataset-1" });
  const text = readFileSync(file, "utf8");
  for (let length = whole; length < text.length - 1; length++) {
    truncateSync(file, length);
    expect(entriesOf(urn)).toEqual([sent]);
    await write({ ...sent, id: "user-dataset-2" });
    expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-2" }]);
    writeFileSync(file, text);
  }
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("a completely unreadable file stops only its own resource", async () => {
  const other = { ...sent, urn: `${urn}-other` };
  await write(sent);
  writeFileSync(files()[0] as string, "{");
  await write(other);
  expect(() => entriesOf(urn)).toThrow(
    /cannot read the recovery journal .*recommender interrupted --forget/s,
  );
  expect(allEntries()).toEqual([other]);
});

/** Writes a file like 0.1.0, with the spelling of the backend in the variable. */
const putAsOld = (spelled: string) => {
  const { backend: _, ...entry } = sent;
  const of = join(directory, "pulumi-recommender/creations", digest([urn, spelled]));
  mkdirSync(of, { recursive: true });
  const name = digest([entry.service, entry.path, entry.identity, ""]);
  writeFileSync(join(of, `${name}.json`), JSON.stringify(entry));
  return entry;
};

test("a file of 0.1.0 is read and moved to the current directory", async () => {
  const old = putAsOld("s3://states/shop");
  const [found] = entriesOf(urn);
  expect(found).toEqual(old);
  await moveEntry(found as JournalEntry, urn, undefined);
  expect(entriesOf(urn)).toEqual([sent]);
  expect(files()).toHaveLength(1);
  await write({ ...sent, id: "user-dataset-1" });
  expect(entriesOf(urn)).toEqual([{ ...sent, id: "user-dataset-1" }]);
});

test("a file of 0.1.0 in another backend is ignored, and can be forgotten", async () => {
  const old = putAsOld("s3://states/other");
  expect(entriesOf(urn)).toEqual([]);
  expect(allEntries()).toEqual([old]);
  await erase(allEntries()[0] as JournalEntry);
  expect(files()).toEqual([]);
});

describe("the backend", () => {
  let state: string;
  const login = (current: string) => {
    delete process.env.PULUMI_BACKEND_URL;
    writeFileSync(join(home, "credentials.json"), JSON.stringify({ current }));
  };
  beforeEach(() => {
    state = join(directory, "state");
    mkdirSync(state);
    symlinkSync(state, join(directory, "link"));
  });
  afterEach(() => {
    process.env.PULUMI_BACKEND_URL = "s3://states/shop";
    rmSync(join(home, "credentials.json"), { force: true });
  });

  test.each<[string, () => void]>([
    ["with a trailing slash", () => (process.env.PULUMI_BACKEND_URL = `file://${state}/`)],
    [
      "by a relative path",
      () => (process.env.PULUMI_BACKEND_URL = `file://${relative(process.cwd(), state)}`),
    ],
    ["by a symbolic link", () => (process.env.PULUMI_BACKEND_URL = `file://${directory}/link`)],
    ["by `pulumi login`", () => login(`file://${state}`)],
    ["by `pulumi login` with a trailing slash", () => login(`file://${state}/`)],
  ])("reached %s has the same entries", async (_, reach) => {
    process.env.PULUMI_BACKEND_URL = `file://${state}`;
    const { backend: _own, ...entry } = sent;
    await write(entry);
    reach();
    expect(entriesOf(urn)).toMatchObject([entry]);
  });

  test("in a bucket is the same with other options, but differs by store", async () => {
    process.env.PULUMI_BACKEND_URL = "s3://states/shop?region=eu-west-1&profile=ci";
    await write(sent);
    process.env.PULUMI_BACKEND_URL = "s3://states/shop/";
    expect(entriesOf(urn)).toEqual([sent]);
    process.env.PULUMI_BACKEND_URL = "s3://states/shop?endpoint=minio.example.com";
    expect(entriesOf(urn)).toEqual([]);
  });

  test("of another login has no entries", async () => {
    login(`file://${state}`);
    const { backend: _own, ...entry } = sent;
    await write(entry);
    login(`file://${directory}`);
    expect(entriesOf(urn)).toEqual([]);
    expect(entriesOfOtherStacks(urn)).toEqual([]);
  });
});

test("concurrent entries of one resource do not affect each other, and leave no files", async () => {
  const entries = Array.from({ length: 40 }, (_, n) => ({
    ...sent,
    identity: `i${n}`,
    id: `user-dataset-${n}`,
  }));
  await Promise.all(
    entries.map(async (entry) => {
      await write(entry);
      expect(entriesOf(urn)).toContainEqual(entry);
      await erase(entry);
    }),
  );
  expect(readdirSync(join(directory, "pulumi-recommender/creations"))).toEqual([]);
});

test("an entry expires after 30 days, even if other stacks share its directory", async () => {
  const old = { ...sent, at: new Date(Date.now() - 31 * 24 * 3_600_000).toISOString() };
  const others = { ...sent, urn: urn.replace(":dev:", ":prod:") };
  await write(others);
  await write(old);
  expect(files()).toHaveLength(2);
  expect(entriesOf(urn)).toEqual([]);
  expect(entriesOfOtherStacks(others.urn)).toEqual([]);
  expect(allEntries()).toEqual([others]);
  // Each process removes expired files once.
  let writeInNextProcess = write;
  jest.isolateModules(() => {
    writeInNextProcess = require("../../../provider/recovery/journal").write;
  });
  await writeInNextProcess(others);
  expect(files()).toHaveLength(1);
});

test("entries in the state are erased with the failed jobs before them, and the rest is returned", async () => {
  const at = (seconds: number) => new Date(seconds * 1000 + Date.now()).toISOString();
  const failed = { ...sent, identity: "1", derived: true, id: "job-1", at: at(1) };
  const stored = { ...sent, identity: "2", derived: true, id: "job-2", at: at(2) };
  const other = { ...sent, identity: "3", id: "job-3", at: at(3) };
  for (const entry of [failed, stored, other]) await write(entry);
  appendFileSync(files()[0] as string, "\n");
  expect(await eraseStored(urn, new Set(["job-2"]))).toEqual([other]);
  expect(entriesOf(urn)).toEqual([other]);
});
