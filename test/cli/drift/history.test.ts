import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shouldFail } from "../../../cli/drift/fail-on";
import type { Report, StackReport } from "../../../cli/drift/finding";
import { announce } from "../../../cli/drift/history/announcement";
import { compareWithEarlier, readEarlierReport } from "../../../cli/drift/history/findings-since";
import { assertWebhook } from "../../../cli/drift/history/webhook";
import { type Format, renderers } from "../../../cli/drift/render/formats";
import { drifted, reportOf, stackReport } from "./sample";

const directory = mkdtempSync(join(tmpdir(), "since-"));
const stateHome = process.env.XDG_STATE_HOME;
beforeAll(() => {
  process.env.XDG_STATE_HOME = join(directory, "state");
});
afterAll(() => {
  if (stateHome === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = stateHome;
  rmSync(directory, { recursive: true });
});

const renamed = (actual: string, name = "events") =>
  drifted("changed", "EventDataset", name, [{ path: "name", declared: "events", actual }]);
const nothing: Partial<StackReport> = { drift: [], changes: [], unmanaged: [], orphans: [] };
const withDrift = (...drift: StackReport["drift"]) => reportOf(stackReport({ ...nothing, drift }));
const first = ({ stacks }: Report) => stacks[0] as StackReport;
const titles = (found: readonly { title: string }[] | undefined) => found?.map(({ title }) => title);

/** Writes a report as JSON and reads it again. */
function stored(report: Report): Report {
  const file = join(directory, "report.json");
  writeFileSync(file, renderers.json(report));
  return readEarlierReport(file);
}

describe("a comparison with an earlier report", () => {
  test("lists what is new and what is resolved", () => {
    const earlier = stored(withDrift(renamed("a"), drifted("deleted", "EventDataset", "spare")));
    const report = compareWithEarlier(withDrift(renamed("b"), renamed("c", "clicks")), earlier, "r.json");
    const { since } = first(report);
    expect(since?.comparedAt).toBe("2026-11-15T17:20:00.000Z");
    expect(titles(since?.added)).toEqual(["Drift: EventDataset clicks changed (name)"]);
    expect(titles(since?.resolved)).toEqual(["Drift: EventDataset spare deleted"]);
    expect(shouldFail(report, ["new"])).toBe(true);
    for (const format of ["text", "markdown", "html"] as Format[]) {
      const text = renderers[format](report);
      expect(text).toMatch(/New since 2026-11-15 at 17:20 UTC/);
      expect(text).toMatch(/Resolved since 2026-11-15 at 17:20 UTC/);
    }
  });

  test("does not fail with --fail-on new if the findings are known, even if their values have changed", () => {
    const report = compareWithEarlier(withDrift(renamed("b")), stored(withDrift(renamed("a"))), "r.json");
    expect(shouldFail(report, ["new"])).toBe(false);
    expect(renderers.text(report)).toContain("No finding is new or resolved.");
  });

  test("says that a finding is gone because it was accepted", () => {
    const accepted = {
      comparison: "drift" as const,
      finding: renamed("a"),
      by: [
        {
          resource: "events",
          reason: "sale",
          until: "2026-12-01",
          location: { file: "f", line: 1, column: 1 },
        },
      ],
    };
    const now = reportOf(stackReport({ ...nothing, accepted: [accepted] }));
    const report = compareWithEarlier(now, stored(withDrift(renamed("a"))), "r.json");
    expect(titles(first(report).since?.resolved)).toEqual([
      "Drift: EventDataset events changed (name) (accepted)",
    ]);
  });

  test("reads a report of a version without acceptances", () => {
    const { accepted: _, expired: __, unused: ___, ...old } = first(withDrift(renamed("a")));
    const file = join(directory, "old.json");
    writeFileSync(file, JSON.stringify({ ...withDrift(), stacks: [old] }));
    expect(first(readEarlierReport(file)).accepted).toEqual([]);
  });

  test("rejects a file that is no report, and a report about other stacks", () => {
    const file = join(directory, "other.json");
    writeFileSync(file, "{}");
    expect(() => readEarlierReport(file)).toThrow(/other\.json is not a JSON report of recommender drift/);
    const other = reportOf(stackReport({ stack: "prod" }));
    expect(() => compareWithEarlier(withDrift(), other, "r.json")).toThrow(
      /--since r\.json is a report about shop\/prod\. Pass an earlier report about the same stacks/,
    );
  });
});

describe("a webhook", () => {
  let server: Server;
  let url: string;
  let answer = { status: 200, body: "ok" };
  const posted: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        posted.push((JSON.parse(body) as { text: string }).text);
        response.writeHead(answer.status, { location: "/elsewhere" }).end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  beforeEach(() => {
    answer = { status: 200, body: "ok" };
    posted.length = 0;
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/${Math.random()}`;
  });
  afterAll(() => server.close());

  test("gets each new and each resolved finding once, without an earlier report", async () => {
    expect((await announce(withDrift(renamed("a")), url)).failure).toBeUndefined();
    await announce(withDrift(renamed("b")), url);
    await announce(withDrift(), url);
    await announce(withDrift(), url);
    expect(posted).toEqual([
      "*shop/dev*: 1 new\n• :warning: Drift: EventDataset events changed (name)",
      "*shop/dev*: 1 resolved\n• :white_check_mark: resolved: Drift: EventDataset events changed (name)",
    ]);
  });

  test("gets each finding once if each run passes the report of the run before, on any machine", async () => {
    const earlier = stored(withDrift());
    const { report } = await announce(withDrift(renamed("a")), url, earlier);
    process.env.XDG_STATE_HOME = join(directory, "another machine");
    const again = await announce(withDrift(renamed("a")), url, stored(report));
    await announce(withDrift(), url, stored(again.report));
    expect(posted.map((text) => text.split("\n")[0])).toEqual([
      "*shop/dev*: 1 new",
      "*shop/dev*: 1 resolved",
    ]);
  });

  test("gets what it missed in the next run", async () => {
    answer = { status: 500, body: "internal_error" };
    const earlier = stored(withDrift());
    const failed = await announce(withDrift(renamed("a")), url, earlier);
    expect(failed.failure).toBe("it answered 500 internal_error");
    const local = await announce(withDrift(renamed("a")), url);
    expect(local.failure).toBe("it answered 500 internal_error");
    answer = { status: 200, body: "ok" };
    posted.length = 0;
    // A run without --notify in between changes nothing.
    const quiet = compareWithEarlier(withDrift(renamed("a")), stored(failed.report), "r.json");
    await announce(withDrift(renamed("a")), url, stored(quiet));
    await announce(withDrift(renamed("a")), url);
    expect(posted).toHaveLength(2);
  });

  test("cannot be made to mention people by the name of a resource", async () => {
    await announce(withDrift(renamed("a", "<!channel> & co")), url);
    expect(posted[0]).toContain("EventDataset &lt;!channel&gt; &amp; co changed");
  });

  test("gets at most 20 findings per stack by name, and the number of the others", async () => {
    await announce(withDrift(...Array.from({ length: 25 }, (_, at) => renamed("a", `e${at}`))), url);
    expect(posted[0]?.split("\n")).toHaveLength(22);
    expect(posted[0]).toMatch(/^\*shop\/dev\*: 25 new\n[\s\S]*• :warning: 5 more$/);
  });

  test.each([
    [{ status: 404, body: "no_service" }, "it answered 404 no_service"],
    [{ status: 302, body: "" }, "it answered 302"],
    [{ status: 403, body: "the address is …" }, "it answered 403"],
  ])("that answers %j is reported without its address", async (given, failure) => {
    answer = given;
    expect((await announce(withDrift(renamed("a")), url)).failure).toBe(failure);
    expect(posted).toHaveLength(1);
  });

  test("that cannot be reached is reported without its address", async () => {
    const { failure } = await announce(withDrift(renamed("a")), "http://127.0.0.1:1/services/secret");
    expect(failure).toMatch(/^it cannot be reached \((ECONNREFUSED|no connection)\)$/);
  });

  test("that accepts a message but never ends its answer gets it once", async () => {
    const open: ServerResponse[] = [];
    const received: string[] = [];
    const hanging = createServer((request, response) => {
      received.push(request.url ?? "");
      request.resume().on("end", () => response.writeHead(received.length > 1 ? 500 : 200).write("o"));
      open.push(response);
    });
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/hanging`;
    expect((await announce(withDrift(renamed("a")), address)).failure).toBeUndefined();
    expect((await announce(withDrift(renamed("a")), address)).failure).toBeUndefined();
    expect(received).toHaveLength(1);
    expect((await announce(withDrift(), address)).failure).toBe("it answered 500");
    for (const response of open) response.destroy();
    hanging.close();
  });

  test("with a user name in its address is rejected without showing it", () => {
    expect(() => assertWebhook("https://ann:hush@hooks.example.com/x")).toThrow(
      "--notify (RECOMMENDER_NOTIFY_URL): remove the user name and password from the address.",
    );
  });

  test("with an invalid address is rejected without showing it", () => {
    for (const invalid of ["hooks.example.com/secret", "https://", "ftp://x/secret"])
      expect(() => assertWebhook(invalid)).toThrow(
        /^--notify \(RECOMMENDER_NOTIFY_URL\): expected the address of a webhook, with https:\/\/\.$/,
      );
  });
});
