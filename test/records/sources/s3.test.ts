import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { findFiles } from "../../../records/source";
import { currentVersionKey } from "../../../records/sources/version-key";
import { BucketServer, withoutBucketServer } from "../../service/files/bucket-server";
import { describeUnless } from "../../unless";
import { userLines } from "../loading";
import { read, TestDirectory } from "../test-directory";

const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"];

describeUnless(withoutBucketServer)("a source in a bucket", () => {
  const directory = new TestDirectory();
  let server: BucketServer;
  let bucket: string;
  let client: S3Client;
  const before = new Map(names.map((name) => [name, process.env[name]]));
  const put = (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
  const problemOf = (source: string) =>
    findFiles(source).then(
      () => "no problem",
      ({ message }: Error) => message,
    );

  beforeAll(async () => {
    server = await BucketServer.start();
    server.use();
    bucket = server.newBucket().split("/")[2] as string;
    client = new S3Client({ endpoint: server.url, region: "us-east-1", forcePathStyle: true });
  });
  beforeEach(() => server.use());
  afterAll(async () => {
    client.destroy();
    await server.stop();
    directory.remove();
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test("is read with the credentials in the environment", async () => {
    for (const key of ["users.ndjson", "a directory/ä+b (1)!.ndjson"]) {
      await put(key, userLines(0, 300));
      expect((await read("users", `s3://${bucket}/${key}`)).records).toHaveLength(300);
    }
  });

  test("is read with a profile, and a profile of a role explains what to do", async () => {
    await put("users.ndjson", userLines(0, 3));
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = server.environment;
    const credentials = `[shop]\naws_access_key_id = ${AWS_ACCESS_KEY_ID}\naws_secret_access_key=${AWS_SECRET_ACCESS_KEY}\n`;
    writeFileSync(join(directory.path, "credentials"), credentials);
    writeFileSync(
      join(directory.path, "config"),
      "[default]\nregion = nowhere\n[profile shop]\nregion = us-east-1\n[profile role]\nrole_arn = arn:aws:iam::1:role/x\n",
    );
    process.env.AWS_SHARED_CREDENTIALS_FILE = join(directory.path, "credentials");
    process.env.AWS_CONFIG_FILE = join(directory.path, "config");
    delete process.env.AWS_ACCESS_KEY_ID;
    process.env.AWS_PROFILE = "shop";
    try {
      expect((await read("users", `s3://${bucket}/users.ndjson`)).records).toHaveLength(3);
      process.env.AWS_PROFILE = "role";
      expect(await problemOf(`s3://${bucket}/users.ndjson`)).toMatch(
        /the profile role uses role_arn, which only the AWS CLI can read; first run `eval/,
      );
    } finally {
      for (const name of ["AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"])
        delete process.env[name];
    }
  });

  test("has a version that changes with its content", async () => {
    const key = () => currentVersionKey({ source: `s3://${bucket}/version.ndjson`, mapping: {} });
    await put("version.ndjson", userLines(0, 3));
    const first = await key();
    expect(first).toBeDefined();
    expect(await key()).toBe(first);
    await put("version.ndjson", userLines(0, 4));
    expect(await key()).not.toBe(first);
  });

  test.each<[string, string, Record<string, string>, RegExp]>([
    ["a missing key", "gone.csv", {}, /does not exist in the bucket \(404 NoSuchKey\); check the key$/],
    [
      "a missing bucket",
      "../no-such-bucket/a.csv",
      {},
      /the bucket does not exist at \S+ \(404 NoSuchBucket\); check its name$/,
    ],
    [
      "a wrong secret",
      "users.ndjson",
      { AWS_SECRET_ACCESS_KEY: "a wrong secret" },
      /cannot be read with the credentials in AWS_ACCESS_KEY_ID \(403 SignatureDoesNotMatch\); check them/,
    ],
    [
      "an unknown key",
      "users.ndjson",
      { AWS_ACCESS_KEY_ID: "nobody" },
      /cannot be read with the credentials in AWS_ACCESS_KEY_ID \(40\d \w+\); check them/,
    ],
    [
      "no credentials",
      "users.ndjson",
      { AWS_ACCESS_KEY_ID: "" },
      /needs credentials \(40\d \w+\); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE$/,
    ],
    [
      "a storage that is not running",
      "users.ndjson",
      { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" },
      /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\); check the address/,
    ],
    ["no key", "", {}, /expected a bucket and a key, such as s3:/],
  ])("fails with one sentence: %s", async (_, key, env, sentence) => {
    await put("users.ndjson", userLines(0, 3));
    Object.assign(process.env, env);
    const source = key.startsWith("../") ? `s3://${key.slice(3)}` : `s3://${bucket}/${key}`;
    const problem = await problemOf(source);
    expect(problem).toMatch(sentence);
    expect(problem.startsWith(`${source}: `)).toBe(true);
    expect(problem).not.toMatch(/secret of the tests|a wrong secret|\n/);
  });
});
