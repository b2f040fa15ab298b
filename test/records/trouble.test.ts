import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CallOptions, Client } from "../../client/client";
import { createDirectory } from "../../client/state-directory";
import type { Route } from "../../contract";
import { storeInline } from "../../records/inline";
import { findFiles } from "../../records/source";
import { Loading, userLines } from "./loading";

let loading: Loading;
let stateHome: string | undefined;
beforeAll(async () => {
  loading = await Loading.start();
  stateHome = process.env.XDG_STATE_HOME;
});
beforeEach(() => {
  process.env.XDG_STATE_HOME = stateHome;
});
afterAll(() => loading.end());

/** Returns a client that runs a function before each upsert. */
function meddling(work: (call: number) => void): Client {
  const { client } = loading.observed;
  let calls = 0;
  const send = async (route: Route, body: Buffer, options: CallOptions) => {
    work(calls++);
    return client.send(route, body, options);
  };
  return { service: client.service, send } as unknown as Client;
}

const journals = () => join(stateHome as string, "pulumi-recommender", "uploads");

describe("rejected records", () => {
  test("stop the upload 1,000 records beyond the limit, even if nothing is sent", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("hopeless.ndjson", '{"name":"b"}\n'.repeat(5000));
    await expect(loading.upload("users", id, file, { maxFailures: 5 })).rejects.toThrow(
      /^1,006 or more records were rejected, but maxFailures is 5\./,
    );
    expect(readFileSync(loading.rejectsFile, "utf8").trim().split("\n")).toHaveLength(1006);
  });

  test.each([
    ["found while reading", '{"name":"b"}\n'],
    ["found by the service", userLines(0, 3)],
  ])("%s fail the upload if the rejects file cannot be written", async (_, text) => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("unwritable.ndjson", text);
    const client = {
      ...meddling(() => undefined),
      send: async () => ({ succeedIds: [], failedIds: ["u1"] }),
    };
    const rejectsFile = join(loading.directory.path, "no-such-directory", "rejects.ndjson");
    await expect(
      loading.upload("users", id, file, { rejectsFile, client: client as unknown as Client }),
    ).rejects.toThrow(
      /unwritable\.ndjson:\d was rejected \(.*\), but cannot write the rejects file: ENOENT.*rejectsFile/,
    );
    mkdirSync(join(loading.directory.path, "a-directory"), { recursive: true });
    await expect(
      loading.upload("users", id, file, { rejectsFile: join(loading.directory.path, "a-directory") }),
    ).rejects.toThrow(/cannot write the rejects file/);
  });
});

describe("the journal", () => {
  test("is not changed by an upload with a different mapping that sends nothing", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("mapped.ndjson", userLines(0, 5000));
    await loading.upload("users", id, file);
    const mapping = { userId: "custmer" };
    await expect(loading.upload("users", id, file, { mapping, contentHash: "sha256:other" })).rejects.toThrow(
      /records were rejected/,
    );
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 0, recordCount: 5000 });
  });

  test("keeps the progress of an interrupted upload, even if records were rejected in between", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("reached.ndjson", userLines(0, 5000));
    const client = meddling((call) => {
      if (call === 3) throw new Error("dead");
    });
    await expect(loading.upload("users", id, file, { client, parallel: 1 })).rejects.toThrow("dead");
    const mapping = { userId: "custmer" };
    await expect(loading.upload("users", id, file, { mapping, contentHash: "sha256:other" })).rejects.toThrow(
      /records were rejected/,
    );
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 2, recordCount: 5000 });
  });

  test("with a truncated line does not stop an upload", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("cut.ndjson", userLines(0, 3000));
    rmSync(journals(), { recursive: true, force: true });
    await loading.upload("users", id, file);
    const name = readdirSync(journals()).find((file) => file.endsWith(".journal"));
    appendFileSync(join(journals(), name as string), '\n{"contentHash":"sha25\n');
    // The records that the unknown upload has replaced are unknown too.
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 3 });
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 0 });
  });

  test.each(["/sys/nope", "/proc/nope", "/dev/null/nope"])(
    "that cannot be written below %s does not stop an upload, and is reported once",
    async (directory) => {
      const id = await loading.dataset("users");
      const file = loading.directory.write("unwritten.ndjson", userLines(0, 3000));
      process.env.XDG_STATE_HOME = directory;
      const said: string[] = [];
      const onUnresumable = (message: string) => void said.push(message);
      expect(await loading.upload("users", id, file, { onUnresumable })).toMatchObject({ calls: 3 });
      expect(said).toEqual([
        expect.stringMatching(/^Cannot record the progress .*starts over.*XDG_STATE_HOME/),
      ]);
    },
  );

  test("that can no longer be read or written does not stop an upload", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("full.ndjson", userLines(0, 3000));
    await loading.upload("users", id, file);
    for (const name of readdirSync(journals())) {
      rmSync(join(journals(), name));
      mkdirSync(join(journals(), name));
    }
    const said: string[] = [];
    const onUnresumable = (message: string) => void said.push(message);
    expect(await loading.upload("users", id, file, { onUnresumable })).toMatchObject({ calls: 3 });
    expect(said).toHaveLength(1);
    rmSync(journals(), { recursive: true });
  });
});

test("creating a directory succeeds or fails without hanging, at any path", () => {
  const path = join(loading.directory.path, "one", "two");
  createDirectory(path);
  createDirectory(path);
  expect(readdirSync(join(path, ".."))).toEqual(["two"]);
  expect(() => createDirectory("/proc/nope/deeper")).toThrow(/ENOENT|EACCES|EPERM/);
});

describe("records in the program", () => {
  const text = Buffer.from('{"user_id":"ada"}\n');

  test("stay in the uploading process, under a name that does not reveal them", async () => {
    const source = storeInline(text);
    expect(source).toMatch(/^inline:[0-9a-f]{64}$/);
    expect(await findFiles(source)).toMatchObject([{ format: "ndjson", content: text }]);
    expect(await findFiles(storeInline(text, "csv"))).toMatchObject([{ format: "csv", content: text }]);
  });

  test("that are gone cause an error", async () => {
    await expect(findFiles("inline:other")).rejects.toThrow(/inline records are not available.*pulumi up/);
  });
});

describe("a file", () => {
  test("that grows during the upload is an error, and the next run sends everything", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("growing.ndjson", userLines(0, 2000));
    const client = meddling(() => appendFileSync(file, '{"user_id":"half'));
    await expect(loading.upload("users", id, file, { client })).rejects.toThrow(
      /growing\.ndjson: was changed while it was read; run the command again/,
    );
    expect(await loading.recordCount(id)).toBe(2000);
    writeFileSync(file, userLines(0, 3000));
    expect(await loading.upload("users", id, file)).toMatchObject({ calls: 3, recordCount: 3000 });
  });

  test("that is deleted during the upload is an error", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("going.ndjson", userLines(0, 2000));
    const client = meddling(() => rmSync(file, { force: true }));
    await expect(loading.upload("users", id, file, { client })).rejects.toThrow(
      /going\.ndjson: was removed while it was read/,
    );
  });

  test("that is a directory is an error", async () => {
    await expect(findFiles(loading.directory.path)).rejects.toThrow(
      /: is a directory; use a pattern for its files, such as .*\*\.csv/,
    );
  });

  test("that is a pipe or a device is an error", async () => {
    await expect(findFiles("/dev/null")).rejects.toThrow(
      /null: is a pipe or a device, .* write it to a file/,
    );
  });
});
