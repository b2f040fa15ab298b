import type { Job } from "../../client/job";
import { parseJson } from "../../client/parse";

/** The downloaded result of a query or clustering. */
export interface JobResult {
  /** The media type, as in `application/json`. */
  readonly type: string;
  readonly body: Buffer;
}

/**
 * Downloads the result of a job. Adds `parameters` to the query of its address. Error messages never contain the
 * address, because anyone who has it can read the result without a key.
 */
export async function fetchResult(
  job: Job,
  parameters: Readonly<Record<string, string>> = {},
): Promise<JobResult> {
  const { jobResult, jobId = "" } = job;
  const { downloadUrl, expiredAtSec } = jobResult ?? {};
  if (!downloadUrl)
    throw new Error(
      `Job ${jobId} has no result to download. Only queries and clusterings that succeeded have one.`,
    );
  if (expiredAtSec != null && Date.now() >= expiredAtSec * 1000) {
    const expiry = new Date(expiredAtSec * 1000).toISOString();
    throw new Error(`The result of job ${jobId} expired at ${expiry}. Run the query or clustering again.`);
  }
  const url = new URL(downloadUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // Loading undici takes time, and most commands do not need it.
  const { Agent, interceptors, request } = await import("undici");
  const agent = new Agent().compose(interceptors.retry({ maxRetries: 3 }));
  try {
    const { statusCode, headers, body } = await request(url, { dispatcher: agent });
    if (statusCode >= 300) {
      await body.dump();
      throw new Error(`Cannot download the result of job ${jobId}: the server returned ${statusCode}.`);
    }
    const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
    return { type: type.trim().toLowerCase(), body: Buffer.from(await body.arrayBuffer()) };
  } finally {
    await agent.close();
  }
}

/** Parses a JSON result. Returns undefined if it is not JSON. */
export function parseResult({ body }: JobResult): unknown {
  return parseJson(body.toString("utf8"));
}
