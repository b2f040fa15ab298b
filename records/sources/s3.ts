import { basename } from "node:path";
import type { Dispatcher } from "undici";
import { SourceError } from "../formats/row";
import { type AwsAccess, awsAccess } from "./aws-credentials";
import { download, strongTag, withConnections } from "./download";
import type { RemoteSource } from "./remote-source";
import type { Reply } from "./request";

/** Returns a source in a bucket of Amazon S3 or a compatible storage: `s3://bucket/key`. */
export function s3Source(address: string): RemoteSource {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/(.+)$/.exec(address) ?? [];
  if (bucket === undefined || key === undefined || key.endsWith("/"))
    throw new SourceError(address, "expected a bucket and a key, such as s3://my-bucket/data/users.csv");
  const object = new BucketObject(address, bucket, key);
  return {
    displayName: address,
    fileName: basename(key),
    version: () =>
      withConnections(async (http) => {
        const reply = await object.send("HEAD", http, {});
        await reply.body.dump();
        return reply.statusCode === 200 ? strongTag(reply) : undefined;
      }).catch(() => undefined),
    copyTo: async (copy) =>
      download(
        {
          displayName: address,
          url: await object.url(),
          get: (http, headers) => object.send("GET", http, headers),
          problemOf: (reply) => object.problemOf(reply),
        },
        copy,
      ),
  };
}

class BucketObject {
  #access: AwsAccess | undefined;
  #region: string | undefined;

  constructor(
    private readonly address: string,
    private readonly bucket: string,
    private readonly key: string,
  ) {}

  async url(): Promise<URL> {
    const { endpoint } = await this.#accessNow();
    const path = this.key.split("/").map(encoded).join("/");
    if (endpoint !== undefined && !URL.canParse(endpoint))
      throw new SourceError(this.address, "AWS_ENDPOINT_URL_S3 is not a valid address; correct it");
    if (endpoint !== undefined) return new URL(`${endpoint.replace(/\/$/, "")}/${this.bucket}/${path}`);
    const host = `s3.${await this.#regionNow()}.amazonaws.com`;
    // The certificate of Amazon does not cover bucket names with dots.
    const isPath = this.bucket.includes(".");
    return new URL(
      isPath ? `https://${host}/${this.bucket}/${path}` : `https://${this.bucket}.${host}/${path}`,
    );
  }

  /** Sends a signed request. If the bucket is in another region, which the response names, sends it there. */
  async send(
    method: "GET" | "HEAD",
    http: Dispatcher,
    headers: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const reply = await this.#sendOnce(method, http, headers);
    const region = reply.headers["x-amz-bucket-region"];
    const isElsewhere = [301, 307, 400].includes(reply.statusCode) && typeof region === "string";
    if (!isElsewhere || region === (await this.#regionNow())) return reply;
    await reply.body.dump();
    this.#region = region;
    return this.#sendOnce(method, http, headers);
  }

  async #sendOnce(
    method: "GET" | "HEAD",
    http: Dispatcher,
    headers: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    const url = await this.url();
    const { origin, pathname, search } = url;
    const signed = await this.#signed(method, url, headers);
    const reply = await http.request({ origin, path: pathname + search, method, headers: signed });
    return { ...reply, url };
  }

  async #signed(method: string, url: URL, headers: Readonly<Record<string, string>>) {
    const { key } = await this.#accessNow();
    // A public bucket accepts requests without a signature.
    if (!key) return headers;
    const { AwsV4Signer } = await import("aws4fetch");
    const region = await this.#regionNow();
    const signer = new AwsV4Signer({ method, url: url.href, headers, service: "s3", region, ...key });
    const { headers: all } = await signer.sign();
    return Object.fromEntries(all);
  }

  async #accessNow(): Promise<AwsAccess> {
    this.#access ??= await awsAccess().catch((error: Error) => {
      throw new SourceError(this.address, error.message);
    });
    return this.#access;
  }

  async #regionNow(): Promise<string> {
    return this.#region ?? (await this.#accessNow()).region ?? "us-east-1";
  }

  async problemOf({ statusCode, body, url }: Reply): Promise<string | undefined> {
    if (statusCode === 408 || statusCode === 429 || statusCode >= 500) return undefined;
    const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await body.text().catch(() => "")) ?? [];
    const reply = code ? `${statusCode} ${code}` : String(statusCode);
    const { key, origin } = await this.#accessNow();
    if (code === "NoSuchBucket") return `the bucket does not exist at ${url.host} (${reply}); check its name`;
    const isKeyProblem = /AccessKey|Signature|Token|Credential|User/.test(code);
    if (statusCode === 404 && !isKeyProblem) return `does not exist in the bucket (${reply}); check the key`;
    if (code === "RequestTimeTooSkewed") return `rejects the time of this machine (${reply}); set its clock`;
    if (isKeyProblem || [400, 401, 403].includes(statusCode))
      return key
        ? `cannot be read with the credentials in ${origin} (${reply}); check them and allow them to read the key`
        : `needs credentials (${reply}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE`;
    if (statusCode < 400) return `the bucket is elsewhere (${reply}); set AWS_REGION or AWS_ENDPOINT_URL_S3`;
    return `${url.host} responds with ${reply}; check the address`;
  }
}

function encoded(part: string): string {
  return encodeURIComponent(part).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
