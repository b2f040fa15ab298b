import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { ServiceError } from "../../base/error";

/** The bucket and the beginning of all names in it that an address says. */
export function bucketAt(url: string): { bucket: string; prefix: string } {
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  const prefix = path.replace(/\/$/, "");
  if (bucket === undefined || !/^([\w.-]+(\/[\w.-]+)*)?$/.test(prefix) || /(^|\/)\.+(\/|$)/.test(prefix)) {
    throw new Error(
      `--files must be the address of a bucket, such as s3://my-bucket/recommender, not ${JSON.stringify(url)}; ` +
        "after the bucket, only letters, digits, and . _ - between single slashes.",
    );
  }
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}

const packages = ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "@aws-sdk/s3-request-presigner"];

/** What speaks with a bucket; most services have none, so the package does not bring it. */
export async function loadSdk() {
  try {
    const [s3, { Upload }, { getSignedUrl }] = await Promise.all([
      import("@aws-sdk/client-s3"),
      import("@aws-sdk/lib-storage"),
      import("@aws-sdk/s3-request-presigner"),
    ]);
    return { ...s3, Upload, getSignedUrl };
  } catch (error) {
    if (!/MODULE_NOT_FOUND/.test(String((error as NodeJS.ErrnoException).code))) throw error;
    throw new Error(
      `--files needs packages that are not installed; run \`npm install ${packages.join(" ")}\`.`,
      { cause: error },
    );
  }
}

/** Where the storage answers, where it is not that of Amazon. */
function endpointIn(env: NodeJS.ProcessEnv): string | undefined {
  return env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
}

/** The rest is found by the SDK, as for every other program that uses it. */
export function settings(env = process.env): S3ClientConfig {
  const endpoint = endpointIn(env);
  const timeouts = { requestHandler: { connectionTimeout: 5000, requestTimeout: 60_000 } };
  if (endpoint === undefined) return { ...timeouts, followRegionRedirects: true };
  // Other storages seldom have a host name for each bucket, and know no regions.
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1";
  return { ...timeouts, endpoint, region, forcePathStyle: true };
}

/** Whether the storage says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes((error as Error).name);
}

const advice: readonly [pattern: RegExp, said: string, advice: string][] = [
  [
    /NoSuchBucket|PermanentRedirect/,
    "is not there",
    "create it, or give another one with --files; AWS_REGION and AWS_ENDPOINT_URL_S3 say where it is looked for",
  ],
  [
    /Credentials|access ?key|SignatureDoesNotMatch|ExpiredToken|InvalidToken|TokenRefreshRequired/i,
    "does not accept the credentials",
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where they have one",
  ],
  [
    /AccessDenied|Forbidden|AllAccessDisabled/,
    "does not allow it",
    "allow these credentials (AWS_ACCESS_KEY_ID) to list the bucket and to read, write and delete in it",
  ],
  [/Region is missing/, "has no region", "set AWS_REGION"],
  [/RequestTimeTooSkewed/, "refuses calls from another time", "set the clock of this machine right"],
  [
    /\bE[A-Z]{4,}\b|EAI_AGAIN|Timeout|socket/,
    "cannot be reached",
    "set AWS_ENDPOINT_URL_S3 to where the storage answers, or AWS_REGION for Amazon S3",
  ],
];

/** What a bucket refused or could not do, and what to do. */
export function bucketError(place: string, error: unknown, env = process.env): Error {
  const { name, message, code } = error as NodeJS.ErrnoException;
  const where = endpointIn(env);
  const at = where === undefined ? "" : ` at ${where}`;
  const reason = [name, code, message].filter((part) => part && part !== "Error").join(": ");
  const [, said, help] = advice.find(([pattern]) => pattern.test(reason)) ?? [
    undefined,
    "failed",
    "see the storage's own log",
  ];
  return new ServiceError("UNAVAILABLE", `The bucket ${place}${at} ${said} (${reason}); ${help}.`, {
    headers: { "retry-after": "5" },
  });
}
