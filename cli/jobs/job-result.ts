import { writeFileSync } from "node:fs";
import type { Job } from "../../client/job";
import { parseJson } from "../../client/parse";

/** What lies behind the address of a job's result. */
export interface JobResult {
  /** The media type, as in `application/json`. */
  readonly type: string;
  readonly body: Buffer;
}

/** Fetches the result of a job; `form` adds to its address. Messages never show the address, which needs no key. */
export async function fetchResult(job: Job, form: Readonly<Record<string, string>> = {}): Promise<JobResult> {
  const { downloadUrl, expiredAtSec } = job.jobResult ?? {};
  const which = `The result of job ${job.jobId ?? ""}`;
  if (!downloadUrl) throw new Error(`${which} has no address: only queries and clusterings have one.`);
  if (expiredAtSec != null && Date.now() >= expiredAtSec * 1000) {
    throw new Error(
      `${which} could be fetched until ${new Date(expiredAtSec * 1000).toISOString()}; ask again.`,
    );
  }
  const url = new URL(downloadUrl);
  for (const [name, value] of Object.entries(form)) url.searchParams.set(name, value);
  // Loaded here, as most commands fetch no result.
  const { Agent, interceptors, request } = await import("undici");
  const agent = new Agent().compose(interceptors.retry({ maxRetries: 3 }));
  try {
    const { statusCode, headers, body } = await request(url, { dispatcher: agent });
    if (statusCode >= 300) {
      await body.dump();
      throw new Error(`${which} cannot be fetched: its address answers ${statusCode}.`);
    }
    const type = String(headers["content-type"] ?? "").split(";")[0] ?? "";
    return { type: type.trim().toLowerCase(), body: Buffer.from(await body.arrayBuffer()) };
  } finally {
    await agent.close();
  }
}

/** The JSON of a result; undefined where it is none. */
export function parseResult({ body }: JobResult): unknown {
  return parseJson(body.toString("utf8"));
}

/** Keeps a result in a file. */
export function writeResultFile(file: string, content: Buffer | string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
