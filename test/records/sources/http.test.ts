import { gzipSync } from "node:zlib";
import { findFiles } from "../../../records/source";
import { currentVersionKey } from "../../../records/sources/version-key";
import { userLines } from "../loading";
import { read, TestDirectory } from "../test-directory";
import { filePage, type Page, WebServer } from "./web-server";

const directory = new TestDirectory();
const users = userLines(0, 500, { note: "n".repeat(200) });
let web: WebServer;
let other: WebServer;
beforeAll(async () => {
  web = await WebServer.start();
  other = await WebServer.start();
});
afterAll(async () => {
  await web.close();
  await other.close();
  directory.remove();
});
beforeEach(() => {
  web.requests();
  other.requests();
  web.authorizations.length = 0;
  other.authorizations.length = 0;
});
afterEach(() => {
  for (const name of Object.keys(process.env))
    if (/^RECOMMENDER_SOURCE_/.test(name)) delete process.env[name];
});

const tokenName = () => `RECOMMENDER_SOURCE_TOKEN_127_0_0_1_${web.port}`;
const problemOf = (source: string) =>
  findFiles(source).then(
    () => "no problem",
    ({ message }: Error) => message,
  );

test.each([
  ["plain", "users.ndjson", users],
  ["gzip", "users.ndjson.gz", gzipSync(users)],
  ["without an ETag", "plain.jsonl", users],
])("a source is read: %s", async (name, path, content) => {
  const url = web.serveFile(`/${path}`, content, name === "without an ETag" ? undefined : '"1"');
  const { records } = await read("users", `${url}?signature=1`);
  expect(records).toHaveLength(500);
  expect(web.requests()).toEqual([`GET /${path}?signature=1`]);
});

test("a redirect to another host is followed, and the token is sent to the first host only", async () => {
  process.env[tokenName()] = "a-secret-token";
  other.serveFile("/moved.ndjson", users);
  const url = web.serve("/start.ndjson", (_, response) => {
    response.writeHead(302, { location: other.url("/moved.ndjson", "localhost") }).end();
  });
  expect((await read("users", url)).records).toHaveLength(500);
  expect(web.authorizations).toEqual(["/start.ndjson Bearer a-secret-token"]);
  expect(other.requests()).toEqual(["GET /moved.ndjson"]);
  expect(other.authorizations).toEqual([]);
});

test("a broken download continues where it stopped", async () => {
  const content = Buffer.from(users);
  const parts: (string | undefined)[] = [];
  const url = web.serve("/broken.ndjson", (request, response) => {
    parts.push(request.headers.range);
    if (parts.length === 3) return filePage(content, '"1"', request, response);
    const start = 40_000 * (parts.length - 1);
    const range = `bytes ${start}-${content.length - 1}/${content.length}`;
    response.writeHead(start ? 206 : 200, {
      etag: '"1"',
      "content-length": content.length - start,
      ...(start && { "content-range": range }),
    });
    response.write(content.subarray(start, start + 40_000), () => response.destroy());
  });
  expect((await read("users", url)).records).toHaveLength(500);
  expect(parts).toEqual([undefined, "bytes=40000-", "bytes=80000-"]);
});

test("a source that changes while it is read is read from the start, so no record is mixed", async () => {
  const earlier = Buffer.from(userLines(1000, 1500, { note: "e".repeat(200) }));
  let count = 0;
  const url = web.serve("/changing.ndjson", (request, response) => {
    if (count++ > 0) return filePage(Buffer.from(users), '"2"', request, response);
    response.writeHead(200, { etag: '"1"', "content-length": earlier.length });
    response.write(earlier.subarray(0, 40_000), () => response.destroy());
  });
  const { records } = await read("users", url);
  expect(records.map(({ user_id }) => user_id)).toEqual(Array.from({ length: 500 }, (_, at) => `u${at}`));
});

test("only a strong ETag proves that a source is unchanged", async () => {
  const key = (source: string) => currentVersionKey({ source, mapping: {} });
  const url = web.serveFile("/versions.ndjson", users, '"1"');
  const first = await key(url);
  expect(first).toBeDefined();
  expect(await key(url)).toBe(first);
  web.serveFile("/versions.ndjson", users, '"2"');
  expect(await key(url)).not.toBe(first);
  for (const etag of ['W/"1"', undefined]) {
    web.serveFile("/versions.ndjson", users, etag);
    expect(await key(url)).toBeUndefined();
  }
  web.serve("/versions.ndjson", (_, response) => response.writeHead(405, { etag: '"1"' }).end());
  expect(await key(url)).toBeUndefined();
});

const status =
  (code: number, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    response.writeHead(code, headers).end("<Reason>none</Reason>");
/** Ends the response in the middle, with nothing that lets the next request continue. */
const cutOff: Page = (_, response) => {
  response.writeHead(200, { "content-length": 100_000 });
  response.write("x".repeat(1000), () => response.destroy());
};
let changes = 0;
const alwaysChanged: Page = (_, response) => {
  response.writeHead(200, { etag: `"${++changes}"`, "content-length": 100_000 });
  response.write("x".repeat(1000), () => response.destroy());
};
const silent: Page = () => undefined;

test.each<[string, string, Page | undefined, RegExp]>([
  ["missing", "/gone.ndjson", undefined, /does not exist \(404\); check the address$/],
  [
    "without credentials",
    "/401.ndjson",
    status(401),
    /needs credentials \(401\); set RECOMMENDER_SOURCE_TOKEN_127_0_0_1_\d+ to a bearer token$/,
  ],
  [
    "a web page",
    "/page.ndjson",
    status(200, { "content-type": "text/html; charset=utf-8" }),
    /is a web page, not records; check the address/,
  ],
  [
    "a web page without a type",
    "/raw.ndjson",
    (_, r) => r.end("\n<!DOCTYPE html><p>Sign in"),
    /is a web page, not records/,
  ],
  [
    "cut off each time",
    "/cut.ndjson",
    cutOff,
    /was cut off after 1000 bytes: .* closed the connection; run the command again later$/,
  ],
  [
    "changed each time",
    "/changed.ndjson",
    alwaysChanged,
    /was changed each time it was read; run the command again/,
  ],
  [
    "a slow server",
    "/slow.ndjson",
    silent,
    /127\.0\.0\.1:\d+ sent nothing for 0\.2 s; try again later or raise RECOMMENDER_SOURCE_TIMEOUT_MS$/,
  ],
  ["an overloaded server", "/503.ndjson", status(503), /responds with 503; run the command again later$/],
  [
    "another status",
    "/418.ndjson",
    status(418),
    /responds with 418, not with the content; check the address$/,
  ],
  [
    "a redirect without encryption",
    "/http.ndjson",
    status(301, { location: "http://example.com/a?b" }),
    /redirects to http:\/\/example\.com\/a, which is not encrypted; set source to an https/,
  ],
  [
    "a redirect without end",
    "/loop.ndjson",
    status(302, { location: "/loop.ndjson" }),
    /redirects more than 5 times; set source to the final address$/,
  ],
  [
    "a redirect to nowhere",
    "/bad.ndjson",
    status(302, { location: "https://:" }),
    /redirects to an invalid address; set source/,
  ],
  [
    "too large",
    "/large.ndjson",
    (_, r) => void r.writeHead(200, { "content-length": 1e15 }).flushHeaders(),
    /needs 1,000,000 GB, but \S+ has [\d.,]+ GB free; free some space, or set XDG_STATE_HOME/,
  ],
  ["an unknown format", "/users.bin", undefined, /unknown file extension; use one of .*, or set the format$/],
])("a source fails with one sentence: %s", async (_, path, page, sentence) => {
  process.env.RECOMMENDER_SOURCE_TIMEOUT_MS = "200";
  if (page) web.serve(path, page);
  const problem = await problemOf(web.url(`${path}?secret=1`));
  expect(problem).toMatch(sentence);
  // The source comes first, without its query, which may be secret.
  expect(problem.startsWith(`${web.url(path)}: `)).toBe(true);
  expect(problem).not.toMatch(/secret=1|\n/);
});

test.each<[string, string, RegExp]>([
  [
    "a password in the address",
    "https://me:hunter2@host/a.csv",
    /^https:\/\/host\/a\.csv: remove the user and password.*set RECOMMENDER_SOURCE_TOKEN_host/,
  ],
  [
    "an address without encryption",
    "http://example.com/a.csv",
    /is not encrypted; use an https:\/\/ address$/,
  ],
  [
    "an unknown kind of address",
    "gs://bucket/a.csv",
    /^cannot read gs:\/\/ addresses; use https:\/\/, s3:\/\/ or postgres:\/\//,
  ],
  ["an invalid address", "https://", /is not a valid address/],
])("an address is rejected before any request: %s", async (_, source, sentence) => {
  const problem = await problemOf(source);
  expect(problem).toMatch(sentence);
  expect(problem).not.toContain("hunter2");
});

test("a rejected token is not shown, and a host that gets no token explains why", async () => {
  process.env[tokenName()] = "a-secret-token";
  web.serve("/403.ndjson", status(403));
  const rejected = await problemOf(web.url("/403.ndjson"));
  expect(rejected).toMatch(
    /does not accept the token in RECOMMENDER_SOURCE_TOKEN_\S+ \(403\); set another one$/,
  );
  expect(rejected).not.toContain("a-secret-token");
  other.serve("/401.ndjson", status(401));
  web.serve("/away.ndjson", status(307, { location: other.url("/401.ndjson") }));
  expect(await problemOf(web.url("/away.ndjson"))).toMatch(
    /redirects to \S+, which responds with 401; no token is sent to another host, so set source to/,
  );
  expect(other.authorizations).toEqual([]);
});

test("a server that is not running gives one sentence", async () => {
  const stopped = await WebServer.start();
  const url = stopped.url("/a.csv");
  await stopped.close();
  expect(await problemOf(url)).toMatch(
    /127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\); check the address/,
  );
  expect(await problemOf("https://no-such-host.invalid/a.csv")).toMatch(
    /the host no-such-host\.invalid was not found; check the address|cannot be reached/,
  );
});
