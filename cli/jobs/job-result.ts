import { createWriteStream, rmSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Job } from "../../client/job";
import { parseJson } from "../../client/parse";

/** The downloaded result of a query or clustering. */
export interface JobResult {
  /** The media type, as in `application/json`. */
  readonly type: string;
  readonly body: Buffer;
}

/** Downloads the result of a query or clustering. Adds `parameters` to the query of its address. */
export function fetchResult(job: Job, parameters: Readonly<Record<string, string>> = {}): Promise<JobResult> {
  return openResult(job, parameters, async (body, type) => {
    const pieces: Buffer[] = [];
    for await (const piece of body) pieces.push(piece as Buffer);
    return { type, body: Buffer.concat(pieces) };
  });
}

/** Writes the result of a job to a file. The result of a recommendation job can be larger than memory. */
export function downloadResult(job: Job, file: string): Promise<void> {
  return openResult(job, {}, async (body) => {
    try {
      await pipeline(body, createWriteStream(file));
    } catch (error) {
      // Delete an incomplete file, because a script could mistake it for the whole result.
      if (statSync(file, { throwIfNoEntry: false })?.isFile()) rmSync(file);
      const reason = (error as Error).message;
      throw new Error(
        `Cannot write the result of job ${job.jobId} to ${file}: ${reason}. ` +
          `Get it with \`recommender jobs get ${job.jobId} --download FILE\`.`,
        { cause: error },
      );
    }
  });
}

/**
 * Opens the result of a job and reads it with `read`. Error messages never contain its address, because anyone who has
 * it can read the result without a key.
 */
async function openResult<T>(
  job: Job,
  parameters: Readonly<Record<string, string>>,
  read: (body: Readable, type: string) => Promise<T>,
): Promise<T> {
  const { jobResult, jobId = "" } = job;
  const { downloadUrl, expiredAtSec } = jobResult ?? {};
  if (!downloadUrl)
    throw new Error(
      `Job ${jobId} has no result to download. Only queries, clusterings and recommendation jobs that succeeded have one.`,
    );
  if (expiredAtSec != null && Date.now() >= expiredAtSec * 1000) {
    const expiry = new Date(expiredAtSec * 1000).toISOString();
    throw new Error(`The result of job ${jobId} expired at ${expiry}. Run the job again.`);
  }
  const url = new URL(downloadUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // Loading undici takes time, and most commands do not need it.
  const { Agent, interceptors, request } = await import("undici");
  // A service that stores its files in a bucket redirects to it. The request has no credentials that could leak.
  const { retry, redirect } = interceptors;
  const agent = new Agent().compose(retry({ maxRetries: 3 }), redirect({ maxRedirections: 3 }));
  try {
    const { statusCode, headers, body } = await request(url, { dispatcher: agent });
    if (statusCode >= 300) {
      await body.dump();
      throw new Error(`Cannot download the result of job ${jobId}: the server returned ${statusCode}.`);
    }
    const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
    return await read(body, type.trim().toLowerCase());
  } finally {
    await agent.close();
  }
}

/** Parses a JSON result. Returns undefined if it is not JSON. */
export function parseResult({ body }: JobResult): unknown {
  return parseJson(body.toString("utf8"));
}
