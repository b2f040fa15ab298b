import { type Input, limits, type routes } from "../../../contract";
import { ManualClock } from "../manual-clock";
import { Running } from "../running";
import { openShop, trainModel } from "../shop";

describe("results of queries and clusterings", () => {
  const clock = new ManualClock();
  let api: Running;
  let projectId: string;
  let modelId: string;
  beforeAll(async () => {
    api = await Running.start({ clock });
    const shop = await openShop(api);
    projectId = shop.projectId;
    modelId = await trainModel(api, shop);
  });
  afterAll(() => api.end());

  type Querying = Input<(typeof routes)["submitQueryingJob"]>;
  const submit = async <T extends Querying["queryType"]>(
    queryType: T,
    queries: Extract<Querying, { queryType: T }>["queries"],
  ) => {
    const job = { name: "q", projectId, modelId, queryType, queries } as Querying;
    return (await api.call("submitQueryingJob", job)).jobId;
  };
  const cluster = async (minUserNum: number) => {
    const job = { name: "c", projectId, modelId, parameters: { minUserNum } };
    return (await api.call("submitClusteringJob", job)).jobId;
  };
  const download = async (jobId: string, more = "") => {
    const { jobResult } = await api.finished(projectId, jobId);
    return api.raw(`${jobResult?.downloadUrl}${more}`);
  };

  test("a user list contains the users whose usage meets all conditions", async () => {
    const conditions = [{ attribute: "genre", value: "drama", lowerBound: 0.6 }];
    const both = [...conditions, { attribute: "genre", value: "comedy", lowerBound: 0.01 }];
    const queries = [{ conditions }, { conditions: both }];
    const jobId = await submit("user_list", queries);
    const job = await api.finished(projectId, jobId);
    expect(job).toMatchObject({
      jobType: "QUERYING",
      jobStatus: "SUCCEED",
      jobData: { modelId, queryType: "user_list", queries },
      jobResult: { expiredAtSec: Math.floor(clock.now() / 1000) + 86400, message: null },
    });
    const { body, answered } = await download(jobId);
    expect(answered).toMatchObject({
      "content-security-policy": expect.stringContaining("sandbox"),
      "x-content-type-options": "nosniff",
    });
    expect(answered["content-type"]).toContain("application/json");
    const [first, second] = body.queries;
    expect(first.user_ids).toHaveLength(first.user_count);
    expect(first.user_ids).toEqual(expect.arrayContaining(["u0", "u4", "u8"]));
    for (const id of first.user_ids) expect(Number(id.slice(1)) % 4).toBe(0);
    for (const id of second.user_ids) expect(first.user_ids).toContain(id);
    expect(second.user_ids.length).toBeLessThan(first.user_ids.length);
  });

  test("a distribution counts every user once, as JSON and as a chart", async () => {
    const queries = [
      { attribute: "genre", value: "drama" },
      { attribute: "genre", value: "opera", bins: 4 },
    ];
    const jobId = await submit("user_distribution", queries);
    const { jobResult } = await api.finished(projectId, jobId);
    expect(jobResult?.message).toContain("No item has genre = opera");
    const { body } = await download(jobId);
    expect(body.queries.map(({ bins }: { bins: unknown[] }) => bins.length)).toEqual([20, 4]);
    for (const { bins } of body.queries) {
      expect(bins.reduce((sum: number, bin: { users: number }) => sum + bin.users, 0)).toBe(40);
    }
    const svg = await download(jobId, "&format=svg");
    expect(svg.answered["content-type"]).toContain("image/svg+xml");
    expect(svg.text).toMatch(/^<svg .*Usage of genre = drama.*<\/svg>$/s);
    expect((await download(jobId, "&format=svg&query=1")).text).toContain("opera");
    expect((await download(jobId, "&format=svg&query=2")).status).toBe(404);
  });

  test("rejects a format or a query that the result does not have", async () => {
    const queries = [{ attribute: "genre", value: "drama\u0001&<\ud800" }];
    const jobId = await submit("user_distribution", queries);
    for (const wrong of ["&format=svg&query=abc", "&format=svg&query=99999", "&query=-1", "&format=pdf"])
      expect(await download(jobId, wrong)).toMatchObject({ status: 400, body: { error: {} } });
    // Characters that XML cannot contain are replaced.
    const { text } = await download(jobId, "&format=svg");
    expect(text).toContain("drama\ufffd&amp;&lt;\ufffd");
  });

  test("a long value that no item has is truncated in the message", async () => {
    const value = `drama ${"x".repeat(limits.valueCharacters - 6)}`;
    const jobId = await submit("user_list", [{ conditions: [{ attribute: "genre", value }] }]);
    const { jobResult } = await api.finished(projectId, jobId);
    expect(jobResult?.message).toMatch(
      /^No item has genre = drama x{54}…; 60 items have other values, .* drama,/,
    );
  });

  test("does not take properties of Object.prototype for attributes", async () => {
    const jobId = await submit("user_list", [
      { conditions: [{ attribute: "constructor", value: String(Object) }] },
    ]);
    const { body } = await download(jobId);
    expect(body.queries[0]).toMatchObject({ conditions: [{ item_count: 0 }] });
  });

  test("a clustering finds groups and their markers, and drops small groups", async () => {
    const jobId = await cluster(5);
    const { body } = await download(jobId);
    expect(body.groups.length).toBeGreaterThanOrEqual(2);
    for (const group of body.groups) {
      expect(group.size).toBeGreaterThanOrEqual(5);
      expect(group.user_ids).toHaveLength(group.size);
      expect(group.markers[0]).toMatchObject({ attribute: "genre", lift: expect.any(Number) });
    }
    const job = await api.finished(projectId, await cluster(1000));
    expect(job).toMatchObject({
      jobStatus: "SUCCEED",
      jobResult: { message: "No group has 1000 users or more." },
    });
  });

  test("a download address is valid for a day, for one job, without a key", async () => {
    const jobId = await cluster(5);
    const otherJobId = await cluster(5);
    const { jobResult } = await api.finished(projectId, jobId);
    const url = jobResult?.downloadUrl as string;
    const forged = [
      url.replace(jobId, otherJobId),
      url.replace(/expires=\d+/, "expires=99999999999"),
      url.replace(/&signature.*/, ""),
    ];
    for (const address of forged) expect((await api.raw(address)).status).toBe(403);
    clock.advance(86_000_000);
    expect((await api.raw(url)).status).toBe(200);
    clock.advance(1_000_000);
    expect(await api.raw(url)).toMatchObject({
      status: 403,
      body: { error: { message: expect.stringContaining("expired") } },
    });
  });
});
