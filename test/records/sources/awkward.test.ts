import { createServer, type Server } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { copyOf, findFiles } from "../../../records/source";
import { remoteSourceAt } from "../../../records/sources/address";
import { standardInput } from "../../../records/sources/standard-input";
import { askDatabase, newDatabase } from "../../service/database";
import { userLines } from "../loading";
import { readFiles, TestDirectory } from "../test-directory";
import { type Page, WebServer } from "./web-server";

const secrets = { AWS_SECRET_ACCESS_KEY: "a-secret-key", PGPASSWORD: "a-secret-password" };
const settings = {
  AWS_ACCESS_KEY_ID: "someone",
  AWS_REGION: "us-east-1",
  RECOMMENDER_SOURCE_MAX_MB: "1",
};

const directory = new TestDirectory();
let web: WebServer;
let database: Awaited<ReturnType<typeof newDatabase>>;
let silent: Server;
beforeAll(async () => {
  web = await WebServer.start();
  database = await newDatabase({ empty: true });
  await askDatabase(database.url, "create table visits (id int); create role guest login password 'unused'");
  silent = createServer().listen(0, "127.0.0.1");
  Object.assign(process.env, secrets, settings, { AWS_ENDPOINT_URL_S3: web.url("") });
});
afterAll(async () => {
  for (const name of Object.keys({ ...secrets, ...settings, AWS_ENDPOINT_URL_S3: "" }))
    delete process.env[name];
  await web.close();
  silent.close();
  await askDatabase(database.url, "drop role guest");
  await database.drop();
  directory.remove();
});

const whole = gzipSync(userLines(0, 5000));
const incomplete = whole.subarray(0, whole.length / 2);
const block = Buffer.from(userLines(0, 1000));
/** Sends records until the client closes the connection. */
const endless: Page = (_, response) => {
  const next = (): void => void (response.destroyed || response.write(block, next));
  next();
};
const send =
  (status: number, headers: Record<string, string | number>, body: Buffer | string = ""): Page =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);
/** Announces more than it sends, and closes the connection. */
const cutOff: Page = (_, response) => {
  response.writeHead(200, { "content-length": 100_000 });
  response.write("x".repeat(1000), () => response.destroy());
};
let changes = 0;
const alwaysChanged: Page = (_, response) => {
  response.writeHead(200, { etag: `"${++changes}"`, "content-length": 100_000 });
  response.write("x".repeat(1000), () => response.destroy());
};

type Source = () => string;
const page =
  (path: string, respond: Page): Source =>
  () =>
    `${web.serve(path, respond)}?signature=a-secret`;
const object =
  (key: string, respond: Page): Source =>
  () => {
    web.serve(`/bucket/${key}`, respond);
    return `s3://bucket/${key}`;
  };
const query =
  (text: string, change: (url: URL) => void = () => undefined): Source =>
  () => {
    const url = new URL(database.url);
    url.password = "";
    change(url);
    url.searchParams.set("query", text);
    return url.href;
  };

/** Shortens the time that a server may be silent. */
const impatient =
  (source: Source, ms = 200): Source =>
  () => {
    process.env.RECOMMENDER_SOURCE_TIMEOUT_MS = String(ms);
    return source();
  };
afterEach(() => {
  delete process.env.RECOMMENDER_SOURCE_TIMEOUT_MS;
});

/** Reads a source and returns why it failed. */
const problemOf = (files: ReturnType<typeof findFiles>) =>
  files
    .then((found) => readFiles("users", found))
    .then(
      () => "no problem",
      ({ message }: Error) => message,
    );

const noEnd =
  /has more than 0\.001 GB and may have no end; check the address, or raise RECOMMENDER_SOURCE_MAX_MB$/;
const gzip = /the gzip file is incomplete after line \d+; download or compress it again$/;
const webPage =
  /is a web page, not records; check the address, which may need a login or a link for downloads$/;
const slow =
  /127\.0\.0\.1:\d+ sent nothing for 0\.2 s; try again later or raise RECOMMENDER_SOURCE_TIMEOUT_MS$/;
const cut =
  /was cut off after 1000 bytes: 127\.0\.0\.1:\d+ closed the connection; run the command again later$/;
const changed = /was changed each time it was read; run the command again when it is complete$/;
const unreachable = /cannot be read from \S+ \(.*\); check the address, and that the server is running$/;

test.each<[string, Source, RegExp]>([
  ["https: without an end", page("/endless.ndjson", endless), noEnd],
  ["https: an incomplete gzip file", page("/part.ndjson.gz", send(200, {}, incomplete)), gzip],
  ["https: shorter than its content-length", page("/short.ndjson", cutOff), cut],
  ["https: a web page", page("/page.ndjson", send(200, { "content-type": "text/html" })), webPage],
  ["https: a slow server", impatient(page("/slow.ndjson", () => undefined)), slow],
  ["https: changed during the read", page("/changed.ndjson", alwaysChanged), changed],
  ["https: missing", page("/gone.ndjson", send(404, {})), /does not exist \(404\); check the address$/],
  ["s3: without an end", object("endless.ndjson", endless), noEnd],
  ["s3: an incomplete gzip file", object("part.ndjson.gz", send(200, {}, incomplete)), gzip],
  ["s3: shorter than its content-length", object("short.ndjson", cutOff), cut],
  ["s3: a web page", object("page.ndjson", send(200, {}, "<html>Sign in")), webPage],
  ["s3: a slow server", impatient(object("slow.ndjson", () => undefined)), slow],
  ["s3: changed during the read", object("changed.ndjson", alwaysChanged), changed],
  [
    "s3: a redirect",
    object("moved.ndjson", send(307, { location: "https://example.com/moved.ndjson" })),
    /the bucket is elsewhere \(307\); set AWS_REGION or AWS_ENDPOINT_URL_S3$/,
  ],
  [
    "s3: wrong credentials",
    object("denied.ndjson", send(403, {}, "<Error><Code>InvalidAccessKeyId</Code></Error>")),
    /cannot be read with the credentials in AWS_ACCESS_KEY_ID \(403 InvalidAccessKeyId\); check them and allow them/,
  ],
  [
    "postgres: without an end",
    query(
      "with recursive t(n) as (select 1 union all select n + 1 from t) select 'u' || n as user_id from t",
    ),
    noEnd,
  ],
  [
    "postgres: no right to read",
    query("select * from visits", (url) => {
      url.username = "guest";
    }),
    /the user may not run the query \(permission denied for table visits\); grant it the right to read$/,
  ],
  [
    "postgres: the connection ends during the read",
    query("select pg_terminate_backend(pg_backend_pid())"),
    unreachable,
  ],
  [
    "postgres: a slow query",
    impatient(query("select pg_sleep(1000)"), 1000),
    /sent no rows for 10 s; make the query faster or raise RECOMMENDER_SOURCE_TIMEOUT_MS$/,
  ],
  [
    "postgres: a server that accepts connections and says nothing",
    impatient(
      query("select 1", (url) => {
        url.host = `127.0.0.1:${(silent.address() as { port: number }).port}`;
      }),
    ),
    unreachable,
  ],
  [
    "postgres: another kind of server",
    query("select 1", (url) => {
      url.host = `127.0.0.1:${web.port}`;
    }),
    unreachable,
  ],
])("a source fails with one sentence that names it and a step to take: %s", async (_, source, sentence) => {
  const address = source();
  const problem = await problemOf(findFiles(address));
  expect(problem).toMatch(sentence);
  expect(problem.startsWith(remoteSourceAt(address)?.displayName as string)).toBe(true);
  expect(problem).toContain("; ");
  for (const secret of [...Object.values(secrets), "a-secret", "\n"]) expect(problem).not.toContain(secret);
});

test.each<[string, () => Iterable<Buffer>, RegExp]>([
  [
    "without an end",
    function* () {
      for (;;) yield block;
    },
    noEnd,
  ],
  ["an incomplete gzip file", () => [incomplete], gzip],
  ["a web page", () => [Buffer.from("<!DOCTYPE html><p>Sign in")], webPage],
])("standard input fails with one sentence: %s", async (_, chunks, sentence) => {
  const input = Readable.from(chunks()) as unknown as NodeJS.ReadStream;
  const problem = await problemOf(copyOf(standardInput("ndjson", input), "ndjson").then((file) => [file]));
  expect(problem).toMatch(sentence);
  expect(problem).toMatch(/^standard input: /);
});
