import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trainModel } from "../../service/shop";
import { ShopCommand } from "../shop-command";

let shop: ShopCommand;
beforeAll(async () => {
  shop = await ShopCommand.open();
});
afterAll(() => shop.close());
afterEach(() => shop.faults({}));

const lines = (text: string) => text.trimEnd().split("\n");
const written = (name: string) => readFileSync(join(shop.directory, name), "utf8");

describe("recommendations, queries and clusterings", () => {
  test("recommend shows items with attributes", async () => {
    const { out } = await shop.run("recommend", "u1", "--limit", "3", "--attributes", "genre,title");
    expect(lines(out)).toHaveLength(4);
    expect(out).toMatch(/^# {2}ITEM +GENRE +TITLE\n1 {2}i\d+ +\w+ +Title \d+$/m);
    const direct = await shop.json("recommend", "u1", "--serving-uri", shop.servingUri);
    expect(direct).toMatchObject({ userId: "u1", limit: 10, results: expect.any(Array) });
    const all = await shop.run("recommend", "u1", "--limit", "1000");
    expect(all.err).toBe(`The service returned only ${lines(all.out).length - 1} items.\n`);
  });

  test("recommend --why explains each item in 80 columns and as JSON", async () => {
    const { out, err } = await shop.run("recommend", "u1", "--why", "--limit", "3", "--attributes", "title");
    const why = /^# {2}ITEM +TITLE +WHY\n1 {2}i\d+ +Title \d+ +i\d+ \+0\.\d+(, i\d+ \+0\.\d+){0,2}$/m;
    expect(out).toMatch(why);
    expect(Math.max(...lines(out).map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(err).toContain("Based on the events of u1.");
    const { basis, results } = await shop.json("recommend", "u1", "--why", "--limit", "1");
    expect(basis).toMatchObject({ from: "events" });
    const item = { itemId: expect.any(String), adds: expect.any(Number) };
    expect(results).toMatchObject([{ why: { items: [item, item, item] } }]);
  });

  test("query lists users, and writes the complete result to a file", async () => {
    const where = ["--where", "genre=drama:0.5..", "--where", "genre=western:..0.4"];
    const { code, out, err } = await shop.run("query", ...shop.asked, ...where, "--out", "users.json");
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/The whole result is in users\.json\n$/),
    });
    expect(out).toMatch(/^\d+ users: usage of genre = drama from 0.5, genre = western up to 0.4\n {2}u\d+\n/);
    const saved = JSON.parse(written("users.json"));
    expect(saved.queries[0].user_ids).toContain("u0");

    const queries = [{ conditions: [{ attribute: "genre", value: "drama", lowerBound: 0.5 }] }];
    writeFileSync(join(shop.directory, "queries.json"), JSON.stringify([...queries, ...queries]));
    const { result } = await shop.json("query", ...shop.asked, "--file", "queries.json");
    expect((result as typeof saved).queries).toHaveLength(2);

    writeFileSync(join(shop.directory, "queries.json"), JSON.stringify([{ conditions: [{ value: "x" }] }]));
    const wrong = await shop.run("query", ...shop.asked, "--file", "queries.json");
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^queries\.json: \[0\]\.conditions\[0\]\.attribute: missing/),
    });
    const none = await shop.run("query", ...shop.asked, "--where", "genre=westen:..0.1");
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toMatch(
      /^No item has genre = westen; 60 items have other values, nearest first: western, /,
    );
    const scripted = await shop.run("query", ...shop.asked, "--where", "gener=drama", "--json");
    expect(scripted).toMatchObject({ code: 1, err: expect.stringContaining("none has this attribute") });
    expect(scripted.err).toContain("genre, title.");
    expect(JSON.parse(scripted.out).result.queries[0].conditions).toMatchObject([{ item_count: 0 }]);
  });

  test("distribution prints a chart and writes SVG", async () => {
    const asked = ["genre=drama", ...shop.asked, "--bins", "4"];
    const { code, out } = await shop.runWith({ COLUMNS: "80" }, "distribution", ...asked);
    expect(code).toBe(0);
    expect(out).toMatch(/^Usage of genre = drama, 40 users\n\n +usage {2}users\n0\.00 – 0\.25 +\d+ {2}█+/);
    for (const line of lines(out)) expect(line.length).toBeLessThanOrEqual(80);
    expect(out).toContain("Chart: distribution-genre-drama.svg\n");
    expect(written("distribution-genre-drama.svg")).toMatch(/^<svg[\s\S]*genre = drama/);

    const twice = ["genre=drama", "genre=western", ...shop.asked, "--svg", "c.svg"];
    const two = await shop.json("distribution", ...twice);
    expect(two.charts).toEqual(["c-1.svg", "c-2.svg"]);
    expect(written("c-2.svg")).toContain("western");
    const bins = (two.result as { queries: { bins: { users: number }[] }[] }).queries[1]?.bins ?? [];
    expect(bins).toHaveLength(20);
    expect(bins.reduce((sum, { users }) => sum + users, 0)).toBe(40);
  });

  test("distribution fails for a value that no item has, and lists the nearest values", async () => {
    const none = await shop.run("distribution", "genre=dramma", ...shop.asked);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toMatch(
      /^No item has genre = dramma; 60 items have other values, nearest first: drama,/,
    );
    expect(existsSync(join(shop.directory, "distribution-genre-dramma.svg"))).toBe(false);
    const both = await shop.run("distribution", "genre=dramma", "genre=comedy", ...shop.asked, "--json");
    expect(both.code).toBe(1);
    expect(JSON.parse(both.out).charts).toEqual(["distribution-genre-comedy.svg"]);
  });

  test("cluster shows groups and their distinctive attributes", async () => {
    const { out } = await shop.run("cluster", ...shop.asked, "--min-users", "3");
    expect(out).toMatch(
      /^\d+ groups? of \d+ users\n\nGROUP {2}USERS {2}MARKED BY\n1 +\d+ +genre = \w+: \d+ %/,
    );
    const { out: none, err } = await shop.run("cluster", ...shop.asked, "--min-users", "1000");
    expect(none).toBe("0 groups of 0 users\n");
    expect(err).toContain("No group has 1000 users or more.");
  });
});

describe("datasets and events", () => {
  test("event datasets are listed", async () => {
    const { eventDatasetId } = shop.ids;
    const { out, err } = await shop.run("datasets", "list");
    expect(out).toMatch(new RegExp(`^event +${eventDatasetId} +events +1 +inferred$`, "m"));
    expect(err).toContain("The API lists event datasets only");
    expect(await shop.json("datasets", "list")).toEqual({
      datasets: [{ kind: "event", id: eventDatasetId, name: "events", numShards: 1, attributeSchema: null }],
    });
  });

  test("prune deletes events between two times, and forget-user all events of a user", async () => {
    const { eventDatasetId } = shop.ids;
    const ts = (day: number) => Date.UTC(2020, 0, day);
    const events = [1, 2, 3, 4].flatMap((day) =>
      ["ann", "bob"].map((userId) => ({ userId, itemId: "i1", ts: ts(day), eventType: "view" })),
    );
    writeFileSync(join(shop.directory, "old.json"), JSON.stringify(events));
    const before = await shop.held(eventDatasetId);
    await shop.json("import", "events", "old.json", "--dataset", eventDatasetId);
    expect(await shop.held(eventDatasetId)).toBe(before + 8);

    const dataset = ["--dataset", eventDatasetId];
    const range = ["--start", "2020-01-02", "--before", "2020-01-03"];
    const unsure = await shop.run("events", "prune", ...dataset, ...range);
    expect(unsure).toMatchObject({ code: 1, out: "", err: expect.stringContaining("confirm with --yes") });
    expect(await shop.held(eventDatasetId)).toBe(before + 8);
    expect(await shop.json("events", "prune", ...dataset, ...range, "--yes")).toEqual({
      eventDatasetId,
      startTs: ts(2),
      ts: ts(3),
    });
    expect(await shop.held(eventDatasetId)).toBe(before + 6);

    expect(await shop.json("events", "forget-user", "ann", "nobody", ...dataset, "--yes")).toEqual({
      eventDatasetId,
      forgotten: ["ann", "nobody"],
    });
    expect(await shop.held(eventDatasetId)).toBe(before + 3);

    // Deletes the rest of these events and the shop's events of 2023.
    const pruned = await shop.run("events", "prune", ...dataset, "--older-than", "1d", "--yes");
    expect(pruned.out).toMatch(/^Deleted the events before 20\d\d-.*Z in event-dataset-/);
    expect(await shop.held(eventDatasetId)).toBe(0);
  });
});

test("models are listed, shown, renamed, and deleted unless they are live", async () => {
  const project = ["--project", shop.ids.projectId];
  const records = { eventDatasetId: shop.ids.eventDatasetId };
  const event = { eventId: "e", userId: "u1", itemId: "i1", ts: 1_700_000_000_000, eventType: "purchase" };
  await shop.api.call("upsertDatasetEvents", { ...records, events: [event] });
  const second = await trainModel(shop.api, shop.ids, "spare");
  expect((await shop.run("models", "list", ...project)).out).toMatch(
    new RegExp(`^${second} +spare +G1 +20.*Z$`, "m"),
  );
  expect(await shop.run("models", "rename", second, "renamed", ...project)).toMatchObject({ code: 0 });
  expect(await shop.json("models", "get", second, ...project)).toMatchObject({ name: "renamed" });

  expect(await shop.run("models", "delete", second, ...project)).toMatchObject({ code: 1 });
  expect((await shop.json("models", "list", ...project)).models).toHaveLength(2);
  // Models that were deleted before the failure are reported.
  const refused = await shop.run("models", "delete", second, shop.modelId, ...project, "--yes", "--json");
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("MODEL_DEPLOYED") });
  expect(JSON.parse(refused.out)).toEqual({ deleted: [second] });
  expect((await shop.json("models", "list", ...project)).models).toHaveLength(1);
  expect(await shop.run("models", "get", second, ...project)).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("NOT_FOUND"),
  });
});

describe("jobs", () => {
  const project = () => ["--project", shop.ids.projectId];

  test("can be submitted first and waited for later", async () => {
    const submitted = await shop.run("cluster", ...shop.asked, "--no-wait");
    const jobId = submitted.out.trim();
    expect(jobId).toMatch(/^job-\w+$/);
    const waited = await shop.run("jobs", "wait", jobId, ...project(), "--download", "groups.json");
    expect(waited).toMatchObject({ code: 0, err: "The result is in groups.json\n" });
    expect(waited.out).toMatch(/^type +CLUSTERING\nstatus +SUCCEED$/m);
    // The address works without a key, so only --json prints it.
    expect(waited.out).not.toContain("signature=");
    expect(JSON.parse(written("groups.json")).groups).toBeDefined();
    expect(await shop.json("jobs", "get", jobId, ...project())).toMatchObject({
      jobId,
      jobStatus: "SUCCEED",
      jobResult: { downloadUrl: expect.stringContaining("signature=") },
    });
  });

  test("never overwrite a file of the project with their result", async () => {
    writeFileSync(join(shop.directory, "package.json"), "{}");
    const submitted = await shop.run("cluster", ...shop.asked, "--no-wait");
    const jobId = submitted.out.trim();
    await shop.run("jobs", "wait", jobId, ...project());
    const refused = { code: 1, err: expect.stringMatching(/package\.json is .* so it is not overwritten/) };
    const saved = ["--download", "package.json"];
    expect(await shop.run("jobs", "get", jobId, ...project(), ...saved)).toMatchObject(refused);
    expect(await shop.run("cluster", ...shop.asked, "--out", "package.json")).toMatchObject(refused);
    expect(written("package.json")).toBe("{}");
    rmSync(join(shop.directory, "package.json"));
  });

  test("that fail end with exit code 4 and the reason", async () => {
    await shop.faults({ jobs: [{ job_type: "QUERYING", times: 4, message: "out of memory" }] });
    const failed = await shop.run("query", ...shop.asked, "--where", "genre=drama");
    expect(failed).toMatchObject({ code: 4, out: "", err: expect.stringMatching(/failed.*: out of memory/) });
  });

  test("that exceed the timeout end with exit code 5 and the command to continue waiting", async () => {
    await shop.faults({ job_delay_ms: 1500 });
    const late = await shop.run("cluster", ...shop.asked, "--timeout", "100ms");
    expect(late).toMatchObject({ code: 5, out: "", err: expect.stringMatching(/still \w+ after 100 ms/) });
    const again = /`recommender (jobs wait [^`]+)`/.exec(late.err)?.[1]?.split(" ") ?? [];
    expect(await shop.run(...again)).toMatchObject({ code: 0 });
  });

  test("that do not exist are an error", async () => {
    expect(await shop.run("jobs", "get", "nope", ...project())).toMatchObject({
      code: 1,
      err: expect.stringContaining("NOT_FOUND"),
    });
  });
});

test("invalid arguments write and send nothing", async () => {
  const wrong: [string[], RegExp][] = [
    [["import", "users", "x", "--dataset", "d", "--parallel", "0"], /whole number from 1 to 64/],
    [["import", "users", "x", "--dataset", "d", "--max-failures", "-1"], /whole number, 0 or more/],
    [["import", "users", "x"], /--dataset is missing/],
    [["serve", "--port", "65536"], /whole number from 0 to 65535/],
    [["events", "prune", "--dataset", "d", "--yes"], /--before DATE or --older-than DURATION/],
    [["events", "prune", "--dataset", "d", "--before", "soon"], /Expected a date/],
    [["events", "prune", "--dataset", "d", "--before", "2026-02-30"], /there is no day 2026-02-30/],
    [["events", "prune", "--dataset", "d", "--older-than", "90"], /with a unit, such as 90d/],
    [["events", "prune", "--dataset", "d", "--before", "2020", "--start", "2021"], /is not before/],
    [["query", ...shop.asked, "--where", "genre"], /Expected ATTRIBUTE=VALUE/],
    [["query", ...shop.asked, "--where", "genre=x:0.9..0.1"], /MIN 0.9 is greater than MAX 0.1/],
    [["query", ...shop.asked], /--where ATTRIBUTE=VALUE, or --file/],
    [["distribution", "genre", ...shop.asked], /Expected ATTRIBUTE=VALUE/],
    [["distribution", "genre=x", ...shop.asked, "--bins", "0"], /whole number, 1 or more/],
    [["recommend", "u1", "--deployment", "live"], /Pass --stack too/],
    [["jobs", "wait", "j", "--project", "p", "--timeout", "soon"], /with a unit/],
    [["models", "list"], /--project is missing\. .* --stack NAME/],
    [["models", "lists"], /unknown command 'lists'/],
    [["datasets", "list", "--cwd", ".."], /Pass --stack too/],
  ];
  const ended = await shop.runAll(wrong.map(([args]) => args));
  for (const [at, [args, message]] of wrong.entries()) {
    expect({ args, ...ended[at] }).toMatchObject({ code: 1, out: "", err: expect.stringMatching(message) });
  }
  expect(existsSync(join(shop.directory, ".recommender"))).toBe(false);
});

test("shutdown asks for confirmation, and recommendations fail afterwards", async () => {
  const project = ["--project", shop.ids.projectId];
  const unsure = await shop.run("shutdown", ...project);
  expect(unsure).toMatchObject({ code: 1, err: expect.stringContaining("confirm with --yes") });
  expect(await shop.json("shutdown", ...project, "--yes")).toEqual({ projectId: shop.ids.projectId });
  expect(await shop.run("recommend", "u1")).toMatchObject({ code: 1, out: "" });
});
