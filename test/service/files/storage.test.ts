import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { CreateMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { sql } from "kysely";
import { settings } from "../../../service/files/storage/bucket";
import { BucketFiles } from "../../../service/files/storage/bucket-files";
import type { Files } from "../../../service/files/storage/files";
import { openFiles } from "../../../service/files/storage/open";
import { connect, openStore } from "../../../service/store/database";
import { describeUnless, testUnless } from "../../unless";
import { newDatabase } from "../database";
import { ended } from "../process";
import { BucketServer, withoutBucketServer } from "./bucket-server";

const built = join(__dirname, "../../../dist/service/files/storage/open.js");

let root: string;
let server: BucketServer | undefined;
const bucket = () => server?.newBucket() ?? "";
let database: Awaited<ReturnType<typeof newDatabase>>;
beforeAll(async () => {
  database = await newDatabase();
  await (await openStore(database.url)).close();
  root = mkdtempSync(join(tmpdir(), "places-"));
  if (withoutBucketServer) return;
  server = await BucketServer.start();
  server.use();
});
afterAll(async () => {
  await server?.stop();
  await database.drop();
  rmSync(root, { recursive: true });
});

let directories = 0;
function newDirectory(): string {
  const directory = join(root, String(++directories));
  for (const name of ["models", "results"]) mkdirSync(join(directory, name), { recursive: true });
  return directory;
}

/** Writes a file in a separate process, megabyte by megabyte, and prints a line after each. */
function writer(files: Files, name: string, megabytes: number, environment = {}, limit = "") {
  const program = `
    const { openFiles } = require(${JSON.stringify(built)});
    function* content() {
      for (let at = 0; at < ${megabytes}; at++) {
        yield Buffer.alloc(1024 * 1024, at);
        console.log(at);
      }
    }
    openFiles(${JSON.stringify(files.location)}).write(${JSON.stringify(name)}, content())
      .catch((error) => { console.error(error.message); process.exitCode = 1; });`;
  return spawn("bash", ["-c", `${limit}exec "$0" "$@"`, process.execPath, "-e", program], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...server?.environment, ...environment },
  });
}

const places: [string, () => Files, (string | undefined)?][] = [
  ["a directory", () => openFiles({ directory: newDirectory() })],
  [
    "a bucket",
    () => openFiles({ directory: join(newDirectory(), "copies"), url: bucket() }),
    withoutBucketServer,
  ],
  ["a database", () => openFiles({ directory: join(newDirectory(), "copies"), url: database.url })],
];
for (const [where, open, missing] of places)
  describeUnless(missing)(`files in ${where}`, () => testFiles(where, open));

function testFiles(where: string, open: () => Files): void {
  let files: Files;
  beforeAll(() => {
    files = open();
  });
  afterAll(() => files.close());

  const content = async (name: string) => {
    const reading = await files.read(name);
    if (!reading) return undefined;
    const bytes = await buffer(reading.stream);
    expect(bytes.length).toBe(reading.bytes);
    return bytes;
  };
  const text = async (name: string) => (await content(name))?.toString();
  const names = async (prefix: string) => (await files.list(prefix)).map(({ name }) => name).sort();

  test("contain the last written content, are listed with their age, and can be deleted", async () => {
    await files.check("instance-1");
    await files.write("results/job-1.json", [Buffer.from("first")]);
    await files.write("results/job-1.json", [Buffer.from("sec"), Buffer.from("ond")]);
    await files.write("results/job-11.json", [Buffer.from("other")]);
    await files.write("models/model-1", []);
    expect(await text("results/job-1.json")).toBe("second");
    expect(await text("models/model-1")).toBe("");
    expect(await names("results/job-1.")).toEqual(["results/job-1.json"]);
    expect(await names("results/")).toEqual(["results/job-1.json", "results/job-11.json"]);
    for (const { writtenTs } of await files.list("results/"))
      expect(Math.abs(Date.now() - writtenTs)).toBeLessThan(60_000);
    await files.remove("results/job-1.json");
    await files.remove("results/job-1.json");
    expect(await text("results/job-1.json")).toBeUndefined();
    expect(await files.open("results/job-1.json")).toBeUndefined();
    expect(await names("results/")).toEqual(["results/job-11.json"]);
  });

  test("may be larger than the pieces of a transfer, and allow random access", async () => {
    async function* pieces() {
      for (let at = 0; at < 5; at++) yield Buffer.alloc(7 * 1024 * 1024, at);
    }
    await files.write("models/model-2", pieces());
    for (let time = 0; time < 2; time++) {
      const file = await files.open("models/model-2");
      expect((await file?.stat())?.size).toBe(35 * 1024 * 1024);
      const { buffer: found } = (await file?.read(Buffer.alloc(2), 0, 2, 21 * 1024 * 1024 - 1)) ?? {};
      expect([...(found ?? [])]).toEqual([2, 3]);
      await file?.close();
    }
  });

  test("are not stored if their content fails", async () => {
    async function* broken() {
      yield Buffer.alloc(20 * 1024 * 1024);
      throw new Error("broken off");
    }
    await expect(files.write("models/model-3", broken())).rejects.toThrow("broken off");
    expect(await content("models/model-3")).toBeUndefined();
    expect(await names("models/model-3")).toEqual([]);
  });

  test("are not stored if the writer is killed, and the remains are deleted after a day", async () => {
    const child = writer(files, "models/model-4", 100_000);
    for await (const line of child.stdout) if (/^1[2-9]\d$/m.test(String(line))) break;
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await content("models/model-4")).toBeUndefined();
    const rest = async () => [...(await names("models/model-4")), ...(await uploads(files))];
    expect(await rest()).toHaveLength(1);
    await files.cleanUp();
    expect(await rest()).toHaveLength(1);
    await files.cleanUp(0);
    expect(await rest()).toEqual([]);
  });

  test("are not stored if the disk is full, and the message names the disk", async () => {
    // The disk of a database is full for all of its data, and the message of the database says so.
    if (where === "a database") return;
    const full = where === "a bucket" ? await BucketServer.start({ fileKilobytes: 1024 }) : undefined;
    const place = full ? openFiles({ directory: join(root, "full"), url: full.newBucket() }) : files;
    const limit = full ? "" : "ulimit -f 1024; ";
    const { code, err } = await ended(writer(place, "models/model-5", 2, full?.environment, limit));
    expect([code, err]).toEqual([1, expect.stringContaining(place.label)]);
    if (full) Object.assign(process.env, full.environment);
    expect(await place.list("models/model-5")).toEqual([]);
    server?.use();
    await full?.stop();
  });

  test("have a public link only in storage that can serve files", async () => {
    await files.write("results/job-2.json", [Buffer.from("{}")]);
    const link = await files.link("results/job-2.json", 60, "application/x-ndjson");
    expect(await files.link("results/job-3.json", 60, "application/json")).toBeUndefined();
    if (where !== "a bucket") return expect(link).toBeUndefined();
    const answer = await fetch(link as string);
    expect([answer.status, answer.headers.get("content-type"), await answer.text()]).toEqual([
      200,
      "application/x-ndjson",
      "{}",
    ]);
    const forged = [
      (link as string).replace("job-2", "job-1"),
      (link as string).replace("Expires=60", "Expires=600"),
      (link as string).replace(/\?.*/, ""),
    ];
    for (const other of forged) expect((await fetch(other)).status).toBe(403);
  });
}

async function uploads({ location }: Files): Promise<unknown[]> {
  if (location.url === undefined) return [];
  if (location.url === database.url) {
    const db = connect(location.url);
    const left = sql`select distinct upload from file_parts where upload not in (select upload from files)`;
    const { rows } = await left.execute(db);
    await db.destroy();
    return rows;
  }
  const client = new S3Client(settings());
  const Bucket = new URL(location.url).hostname;
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  client.destroy();
  return Uploads;
}

test("a file in the data directory is readable by its owner only", async () => {
  const directory = newDirectory();
  await openFiles({ directory }).write("models/model-1", [Buffer.from("a")]);
  expect(statSync(join(directory, "models", "model-1")).mode & 0o777).toBe(0o600);
});

testUnless(withoutBucketServer)(
  "interrupted uploads to a bucket are aborted, even beyond the first page of the list",
  async () => {
    const url = bucket();
    const files = openFiles({ directory: join(newDirectory(), "copies"), url });
    const Bucket = new URL(url).hostname;
    const client = new S3Client(settings());
    for (let from = 0; from < 1010; from += 101) {
      const begun = Array.from({ length: 101 }, (_, at) =>
        client.send(
          new CreateMultipartUploadCommand({ Bucket, Key: `some/prefix/models/model-${from + at}` }),
        ),
      );
      await Promise.all(begun);
    }
    client.destroy();
    await files.cleanUp(0);
    expect(await uploads(files)).toEqual([]);
    files.close();
  },
);

describeUnless(withoutBucketServer)("copies on this machine", () => {
  const copied = (directory: string) => readdirSync(directory).sort();
  const opened = async (files: Files, name: string) => (await files.open(`models/${name}`))?.close();

  test("are deleted when they take too much space, least recently used first", async () => {
    const directory = join(newDirectory(), "copies");
    const files = new BucketFiles({ directory, url: bucket() }, 250);
    for (const name of ["model-a", "model-b", "model-c"])
      await files.write(`models/${name}`, [Buffer.alloc(100)]);
    await files.write("models/model-d", [Buffer.alloc(300)]);
    await opened(files, "model-a");
    await opened(files, "model-b");
    for (const [at, name] of ["model-a", "model-b"].entries())
      utimesSync(join(directory, name), at + 1, at + 1);
    await opened(files, "model-a");
    await opened(files, "model-c");
    expect(copied(directory)).toEqual(["model-a", "model-c"]);
    const large = await files.open("models/model-d");
    expect((await large?.readFile())?.length).toBe(300);
    await large?.close();
    expect(copied(directory)).toEqual([]);
    files.close();
  });

  test("are deleted with their file: at once in this process, and by the cleanup in others", async () => {
    const url = bucket();
    const [here, elsewhere] = [join(newDirectory(), "copies"), join(newDirectory(), "copies")];
    const files = openFiles({ directory: here, url });
    const others = openFiles({ directory: elsewhere, url });
    for (const name of ["model-a", "model-b"]) {
      await files.write(`models/${name}`, [Buffer.from(name)]);
      await opened(files, name);
      await opened(others, name);
    }
    writeFileSync(join(elsewhere, "model-c.0-0.part"), "half a copy");
    await files.remove("models/model-a");
    expect(copied(here)).toEqual(["model-b"]);
    expect(copied(elsewhere)).toEqual(["model-a", "model-b", "model-c.0-0.part"]);
    await others.cleanUpCopies(new Set(["model-b"]));
    expect(copied(elsewhere)).toEqual(["model-b", "model-c.0-0.part"]);
    utimesSync(join(elsewhere, "model-c.0-0.part"), 1, 1);
    await others.cleanUpCopies(new Set(["model-b"]));
    expect(copied(elsewhere)).toEqual(["model-b"]);
    files.close();
    others.close();
  });
});

test.each([
  ["s3://", "--files must be the address of a bucket"],
  ["s3://UPPER/case", "--files must be the address of a bucket"],
  ["s3://bucket/a//b", "--files must be the address of a bucket"],
  ["s3://bucket/../b", "--files must be the address of a bucket"],
  ["gs://bucket", "--files must be the address of a bucket"],
  ["/a/directory", "--files must be the address of a bucket"],
])("the address %s is rejected", (url, message) => {
  expect(() => openFiles({ directory: root, url })).toThrow(message);
});
