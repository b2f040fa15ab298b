import { Loading, userLines } from "./loading";

let loading: Loading;
beforeAll(async () => {
  loading = await Loading.start();
});
afterAll(() => loading.end());

describe("a source that cannot fit the dataset's shards", () => {
  test("is rejected before the first upload, with the required number of shards", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("many.ndjson", userLines(0, 100_200));
    await expect(loading.upload("users", id, file, { numShards: 1 })).rejects.toThrow(
      /has about 100,\d{3} records, but 1 shard holds 100,000; nothing was uploaded\. .*numShards: 10\b/,
    );
    expect(loading.upserts()).toBe(0);
  });

  test("is accepted if it just fits", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("exactly.ndjson", userLines(0, 100_000));
    expect(await loading.upload("users", id, file, { numShards: 1 })).toMatchObject({ recordCount: 100_000 });
  });

  test("is counted by ids, not by lines", async () => {
    const id = await loading.dataset("users");
    const file = loading.directory.write("repeated.ndjson", userLines(0, 2).repeat(50_100));
    const uploaded = await loading.upload("users", id, file, { numShards: 1, parallel: 1 });
    expect(uploaded.recordCount).toBe(100_200);
    expect(await loading.recordCount(id)).toBe(2);
  });
});
