import type { S3ClientConfig } from "@aws-sdk/client-s3";
import { ServiceError } from "../../base/error";

/** Splits the address of a bucket into its name and the prefix of all file names. */
export function bucketAt(url: string): { bucket: string; prefix: string } {
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  const prefix = path.replace(/\/$/, "");
  if (bucket === undefined || !/^([\w.-]+(\/[\w.-]+)*)?$/.test(prefix) || /(^|\/)\.+(\/|$)/.test(prefix)) {
    throw new Error(
      `--files must be the address of a bucket, such as s3://my-bucket/recommender, not ${JSON.stringify(url)}. ` +
        "The prefix may only contain letters, digits, and . _ - between single slashes.",
    );
  }
  return { bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}

const packages = ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "@aws-sdk/s3-request-presigner"];

/** Loads the AWS SDK. It is an optional dependency, because most services use no bucket. */
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
      `--files needs packages that are not installed. Run \`npm install ${packages.join(" ")}\`.`,
      { cause: error },
    );
  }
}

/** Returns the address of the storage, or undefined for Amazon S3. */
function endpointIn(env: NodeJS.ProcessEnv): string | undefined {
  return env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
}

/**
 * Returns the settings of the S3 client. The SDK reads all other settings, such as credentials, from the environment.
 */
export function settings(env = process.env): S3ClientConfig {
  const endpoint = endpointIn(env);
  const timeouts = { requestHandler: { connectionTimeout: 5000, requestTimeout: 60_000 } };
  if (endpoint === undefined) return { ...timeouts, followRegionRedirects: true };
  // Other storages rarely have a host name per bucket, and have no regions.
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1";
  return { ...timeouts, endpoint, region, forcePathStyle: true };
}

/** Whether an error means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes((error as Error).name);
}

const advice: readonly [pattern: RegExp, problem: string, advice: string][] = [
  [
    /NoSuchBucket|PermanentRedirect/,
    "was not found",
    "Create it, or set another one with --files. Check AWS_REGION and AWS_ENDPOINT_URL_S3",
  ],
  [
    /Credentials|access ?key|SignatureDoesNotMatch|ExpiredToken|InvalidToken|TokenRefreshRequired/i,
    "does not accept the credentials",
    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN for temporary credentials",
  ],
  [
    /AccessDenied|Forbidden|AllAccessDisabled/,
    "denies access",
    "Allow these credentials (AWS_ACCESS_KEY_ID) to list the bucket and to read, write and delete in it",
  ],
  [/Region is missing/, "has no region", "Set AWS_REGION"],
  [/RequestTimeTooSkewed/, "rejects the time of this machine", "Correct the clock of this machine"],
  [
    /\bE[A-Z]{4,}\b|EAI_AGAIN|Timeout|socket/,
    "cannot be reached",
    "Set AWS_ENDPOINT_URL_S3 to the address of the storage, or AWS_REGION for Amazon S3",
  ],
];

/** Returns the error of a failed operation, with the remedy. */
export function bucketError(label: string, error: unknown, env = process.env): Error {
  const { name, message, code } = error as NodeJS.ErrnoException;
  const where = endpointIn(env);
  const at = where === undefined ? "" : ` at ${where}`;
  const reason = [name, code, message].filter((part) => part && part !== "Error").join(": ");
  const [, problem, remedy] = advice.find(([pattern]) => pattern.test(reason)) ?? [
    undefined,
    "failed",
    "See the log of the storage",
  ];
  return new ServiceError("UNAVAILABLE", `The bucket ${label}${at} ${problem} (${reason}). ${remedy}.`, {
    headers: { "retry-after": "5" },
  });
}
