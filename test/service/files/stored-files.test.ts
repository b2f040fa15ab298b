import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { serialize } from "node:v8";
import { type StartOptions, startService } from "../../../service";
import { openFiles } from "../../../service/files/storage/open";
import { describeUnless } from "../../unless";
import { ManualClock } from "../manual-clock";
import { run } from "../process";
import { Running } from "../running";
import { deploy, openShop, trainModel } from "../shop";
import { BucketServer, withoutBucketServer } from "./bucket-server";

let server: BucketServer | undefined;
const bucket = () => server?.newBucket() ?? "";
let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "stored-files-"));
  if (withoutBucketServer) return;
  server = await BucketServer.start();
  server.use();
});
afterAll(async () => {
  await server?.stop();
  rmSync(root, { recursive: true });
});

for (const where of ["directory", "bucket"]) {
  const missing = where === "bucket" ? withoutBucketServer : undefined;
  describeUnless(missing)(`a service that stores models and results in a ${where}`, () => testService(where));
}

function testService(where: string): void {
  const isBucket = where === "bucket";
  let options: StartOptions & { dataDir: string };
  let api: Running;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let modelId: string;
  let servingUri: string;
  beforeAll(async () => {
    const dataDir = join(root, where);
    options = { dataDir, ...(isBucket ? { files: bucket() } : {}) };
    api = await Running.start(options);
    shop = await openShop(api);
    modelId = await trainModel(api, shop);
    servingUri = await deploy(api, shop.projectId, modelId);
  });
  afterAll(() => api.end());

  const files = () =>
    openFiles(
      options.files === undefined
        ? { directory: options.dataDir }
        : { directory: join(root, "elsewhere"), url: options.files },
    );
  const names = async (prefix: string) => (await files().list(prefix)).map(({ name }) => name).sort();
  const recommended = async () =>
    (await api.call("recommendItemsToUser", { userId: "u1", limit: 5 }, { base: servingUri })).results;
  /** Fetches a URL without credentials. */
  const fetched = (url: string) => fetch(url);
  const queried = async () => {
    const { projectId } = shop;
    const queries = [{ attribute: "genre", value: "drama" }];
    const asked = { name: "q", projectId, modelId, queryType: "user_distribution", queries } as const;
    const { jobId } = await api.call("submitQueryingJob", asked);
    const { jobResult } = await api.finished(projectId, jobId);
    return { jobId, url: jobResult?.downloadUrl as string };
  };
  const restart = async (clock?: ManualClock) => {
    await api.end();
    api = await Running.start(clock ? { ...options, clock } : options);
  };

  test("stores its files there, and nowhere else", async () => {
    expect(await names("models/model-")).toEqual([`models/${modelId}`]);
    expect(readdirSync(join(options.dataDir, "models"))).toEqual(isBucket ? [] : [modelId]);
  });

  test("serves results only to callers with a signed URL", async () => {
    const { jobId, url } = await queried();
    expect(await names(`results/${jobId}`)).toEqual([`results/${jobId}.1.0.svg`, `results/${jobId}.1.json`]);
    const answer = await fetched(url);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "application/json; charset=utf-8",
    ]);
    expect(await answer.json()).toMatchObject({ query_type: "user_distribution" });
    const chart = await fetched(`${url}&format=svg`);
    expect([chart.status, chart.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(await chart.text()).toMatch(/^<svg /);
    // The bytes come from the storage itself.
    expect([answer.redirected, answer.url.startsWith(server?.url ?? "none")]).toEqual([isBucket, isBucket]);
    if (isBucket) expect(answer.url).toContain("X-Amz-Expires=300&");
    for (const forged of [
      url.replace(jobId, "job-0"),
      url.replace(/expires=\d+/, "expires=99999999999"),
      url.replace(/signature=./, "signature="),
    ])
      expect((await fetched(forged)).status).toBe(403);
    expect((await fetched(`${url}&format=svg&query=1`)).status).toBe(404);
  });

  test("removes results when the events of a user are deleted", async () => {
    const { url } = await queried();
    await api.call("deleteDatasetUserEvents", { eventDatasetId: shop.eventDatasetId, userId: "u7" });
    expect(await names("results/")).toEqual([]);
    expect((await fetched(url)).status).toBe(404);
  });

  test("gives the same answers after a restart, even if local copies are missing or damaged", async () => {
    const before = await recommended();
    await restart();
    expect(await recommended()).toEqual(before);
    if (!isBucket) return;
    // After users were forgotten, the file name ends with a version.
    const [name = "", ...others] = readdirSync(join(options.dataDir, "copies"));
    expect([name.split(".")[0], others]).toEqual([modelId, []]);
    const copy = join(options.dataDir, "copies", name);
    writeFileSync(copy, readFileSync(copy).fill(1, 5000, 5100));
    await restart();
    expect(await recommended()).toEqual(before);
    rmSync(copy);
    await restart();
    expect(await recommended()).toEqual(before);
    expect(readdirSync(join(options.dataDir, "copies"))).toEqual([name]);
  });

  test("fails a job over a damaged model at once, and names the file", async () => {
    const damaged = await trainModel(api, shop);
    const name = `models/${damaged}`;
    const whole = await buffer((await files().read(name))?.stream as never);
    await files().write(name, [whole.subarray(0, 5000)]);
    const { projectId } = shop;
    const asked = { projectId, modelId: damaged, name: "groups", parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", asked);
    const place = options.files ?? options.dataDir;
    expect(await api.finished(projectId, jobId)).toMatchObject({
      jobStatus: "FAILED",
      retryCount: 0,
      jobResult: {
        message: expect.stringContaining(
          `Cannot use the file ${name} in ${place}: it is cut off after 5000 bytes`,
        ),
      },
    });
    await api.call("deleteModel", { projectId, modelId: damaged });
    expect(await names("models/model-")).toEqual([`models/${modelId}`]);
  });

  test("deletes model files without a database row at its start, after one day", async () => {
    const stray = "models/model-0123456789abcdef0123";
    await files().write(stray, [Buffer.from("stray")]);
    await restart();
    expect(await names("models/model-")).toContain(stray);
    await restart(new ManualClock(Date.now() + 25 * 60 * 60 * 1000));
    expect(await names("models/model-")).toEqual([`models/${modelId}`]);
    expect(await recommended()).toHaveLength(5);
  });
}

describeUnless(withoutBucketServer)("a bucket", () => {
  test("never reads a model of version 0.1.0, whose format can contain more than numbers", async () => {
    const url = bucket();
    const api = await Running.start({ dataDir: join(root, "first"), files: url });
    const shop = await openShop(api);
    const modelId = await trainModel(api, shop);
    await openFiles({ directory: root, url }).write(`models/${modelId}`, [serialize({ model: {} })]);
    const asked = { projectId: shop.projectId, modelId, name: "groups", parameters: {} };
    const { jobId } = await api.call("submitClusteringJob", asked);
    const { jobResult } = await api.finished(shop.projectId, jobId);
    expect(jobResult?.message).toContain("which can only be read from a data directory, not from a bucket");
    expect(jobResult?.message).not.toContain("Restore it from a backup");
    await api.end();
  });

  test("with the files of other data is rejected, because one service would delete the models of the other", async () => {
    const files = bucket();
    const service = await startService({ dataDir: join(root, "one"), files, log: "none" });
    await service.close();
    await expect(startService({ dataDir: join(root, "other"), files, log: "none" })).rejects.toThrow(
      /^s3:\/\/bucket-\d+\/some\/prefix contains the files of another service .* Set another prefix with --files/,
    );
    // The failed start has released the data directory.
    const again = await startService({ dataDir: join(root, "other"), log: "none" });
    await again.close();
  });

  test.each([
    [
      "does not exist",
      "s3://no-such-bucket",
      {},
      /^The bucket s3:\/\/no-such-bucket at http:.* was not found .*AWS_REGION/,
    ],
    [
      "cannot be reached",
      "",
      { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9" },
      /cannot be reached .* Set AWS_ENDPOINT_URL_S3/,
    ],
    [
      "does not know the key",
      "",
      { AWS_ACCESS_KEY_ID: "other" },
      /does not accept the credentials .* Set AWS_ACCESS_KEY_ID/,
    ],
    [
      "receives no key",
      "",
      { AWS_ACCESS_KEY_ID: "" },
      /does not accept the credentials .* Set AWS_ACCESS_KEY_ID/,
    ],
    [
      "has an invalid address",
      "s3:/bucket",
      {},
      /^--files must be the address of a bucket, such as s3:\/\/my-bucket/,
    ],
  ])("that %s fails the start, and the error names the fix", async (_, url, environment, message) => {
    Object.assign(process.env, environment);
    try {
      const starting = startService({
        dataDir: join(root, "refused"),
        files: url || bucket(),
        log: "none",
      });
      await expect(starting).rejects.toThrow(message);
    } finally {
      server?.use();
    }
  });

  test("can be set in the environment of the command", async () => {
    process.env.RECOMMENDER_FILES = "nowhere";
    const { code, err } = await run("serve", "--data", join(root, "command"));
    delete process.env.RECOMMENDER_FILES;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('such as s3://my-bucket/recommender, not "nowhere"'),
    ]);
  });
});
