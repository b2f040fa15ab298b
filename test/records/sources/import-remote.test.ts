import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Loading, userLines } from "../loading";
import { runCommand } from "../run-command";
import { WebServer } from "./web-server";

let loading: Loading;
let web: WebServer;
beforeAll(async () => {
  loading = await Loading.start();
  web = await WebServer.start();
});
afterAll(async () => {
  await web.close();
  await loading.end();
});
beforeEach(() => {
  loading.observed.faults({});
  web.requests();
});

const imports = (source: string, id: string, options: Parameters<typeof runCommand>[2] = {}) =>
  runCommand(loading, ["import", "users", source, "--dataset", id, "--json"], options);
const resultOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout);
/** Returns the copies of remote sources that processes have left. */
const copies = () => {
  const directory = join(process.env.XDG_STATE_HOME as string, "pulumi-recommender", "sources");
  return existsSync(directory) ? readdirSync(directory) : [];
};

test("an unchanged source with an ETag is not downloaded again, and a changed one sends its changes", async () => {
  const id = await loading.dataset("users");
  const url = web.serveFile("/users.ndjson.gz", gzipSync(userLines(0, 3000)), '"1"');
  const first = await imports(url, id);
  expect(first).toMatchObject({ code: 0, stderr: "", upserts: 3 });
  web.requests();
  expect(resultOf(await imports(url, id))).toMatchObject({ recordCount: 3000, sentCount: 0 });
  expect(web.requests()).toEqual(["HEAD /users.ndjson.gz"]);
  web.serveFile("/users.ndjson.gz", gzipSync(userLines(0, 3500)), '"2"');
  expect(await imports(url, id)).toMatchObject({ code: 0, upserts: 1 });
  expect(await loading.recordCount(id)).toBe(3500);
  expect(copies()).toEqual([]);
});

test("a source without an ETag is read each time, and sent only if its content has changed", async () => {
  const id = await loading.dataset("users");
  const url = web.serveFile("/plain.ndjson", userLines(0, 2000));
  expect(await imports(url, id)).toMatchObject({ code: 0, upserts: 2 });
  web.requests();
  expect(await imports(url, id)).toMatchObject({ code: 0, upserts: 0 });
  expect(web.requests()).toContain("GET /plain.ndjson");
  web.serveFile("/plain.ndjson", userLines(1, 2001));
  expect(await imports(url, id)).toMatchObject({ code: 0, upserts: 2 });
});

test("after a kill, an import of a remote source sends the missing records", async () => {
  const id = await loading.dataset("users", 10);
  const url = web.serveFile("/many.ndjson", userLines(0, 100_000, { note: "n".repeat(50) }), '"1"');
  const killed = await imports(url, id, { killAfterUpserts: 20 });
  expect(killed.signal).toBe("SIGKILL");
  const last = await imports(url, id);
  expect(last.code).toBe(0);
  expect(resultOf(last)).toMatchObject({ recordCount: 100_000, failedCount: 0 });
  expect(await loading.recordCount(id)).toBe(100_000);
  expect(killed.upserts + last.upserts).toBeLessThanOrEqual(100 + 8);
});

test("a source that cannot be read sends nothing, and its error shows no secret", async () => {
  const id = await loading.dataset("users");
  web.serve("/private.ndjson", (_, response) => response.writeHead(403).end());
  const env = { [`RECOMMENDER_SOURCE_TOKEN_127_0_0_1_${web.port}`]: "a-secret-token" };
  const refused = await imports(`${web.url("/private.ndjson")}?sig=hidden`, id, { env });
  expect(refused).toMatchObject({ code: 1, upserts: 0 });
  expect(resultOf(refused).error.message).toMatch(
    /private\.ndjson: does not accept the token in RECOMMENDER/,
  );
  expect(refused.stdout + refused.stderr).not.toMatch(/a-secret-token|hidden/);
});

test("standard input is imported, and needs a format", async () => {
  const id = await loading.dataset("users");
  const run = (input: string | Buffer, ...more: string[]) =>
    runCommand(loading, ["import", "users", "-", "--dataset", id, "--json", ...more], { input });
  const bare = await run(userLines(0, 10));
  expect(bare).toMatchObject({ code: 1, upserts: 0 });
  expect(resultOf(bare).error.message).toBe("standard input: has no file extension; set --format");
  expect(await run(gzipSync(userLines(0, 2000)), "--format", "ndjson")).toMatchObject({
    code: 0,
    upserts: 2,
  });
  expect(await run(userLines(0, 2000), "--format", "ndjson")).toMatchObject({ code: 0, upserts: 0 });
  expect(await loading.recordCount(id)).toBe(2000);
});

test("a dry run of a remote source shows its columns and sends nothing", async () => {
  const url = web.serveFile("/people.csv", "customer,age\na,1\n");
  const { code, stdout, upserts } = await runCommand(loading, [
    "import",
    "users",
    `${url}?key=hidden`,
    "--dry-run",
  ]);
  expect({ code, upserts }).toEqual({ code: 1, upserts: 0 });
  expect(stdout).toContain("/people.csv");
  expect(stdout).not.toContain("hidden");
});

test("memory stays under 250 MB while a large source is imported", async () => {
  const id = await loading.dataset("users", 10);
  const block = userLines(0, 12, { note: "n".repeat(4000) });
  const chunk = Buffer.from(block.repeat(200));
  const chunks = Math.ceil((Number(process.env.SOURCE_MEGABYTES ?? 700) * 1e6) / chunk.length);
  const url = web.serve("/large.ndjson", (request, response) => {
    response.writeHead(200, { "content-length": chunk.length * chunks });
    if (request.method === "HEAD") return void response.end();
    let left = chunks;
    const next = (): void => {
      if (left-- === 0) response.end();
      else response.write(chunk, next);
    };
    next();
  });
  // On a busy machine, V8 collects garbage late, and since Node 22 it reserves more for new objects. Small heaps show how
  // much memory the import needs.
  const small = "--max-old-space-size=64 --max-semi-space-size=16";
  const options = `${small} --require ${join(__dirname, "print-memory.js")}`;
  const env = { NODE_OPTIONS: `${process.env.NODE_OPTIONS} ${options}` };
  const ended = await imports(url, id, { env });
  expect(ended.code).toBe(0);
  expect(resultOf(ended)).toMatchObject({ recordCount: 12 * 200 * chunks });
  const [, kilobytes] = /most memory: (\d+) kB/.exec(ended.stderr) ?? [];
  expect(Number(kilobytes)).toBeGreaterThan(0);
  expect(Number(kilobytes)).toBeLessThan(250_000);
});
