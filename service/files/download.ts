import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../base/error";
import type { ServiceContext } from "./service-context";
import { type Attempt, type Reading, resultName } from "./storage/files";

/** How long a result can be downloaded; the specification says that it ends, not when. */
export const resultLifetimeSec = 24 * 60 * 60;

/** The signed address of a job's result, the same each time it is asked for. */
export function downloadUrl(context: ServiceContext, jobId: string, finishedTs: number) {
  const expiredAtSec = Math.floor(finishedTs / 1000) + resultLifetimeSec;
  const signature = sign(context, jobId, expiredAtSec);
  return {
    downloadUrl: `${context.addresses.url}/download/${jobId}?expires=${expiredAtSec}&signature=${signature}`,
    expiredAtSec,
  };
}

/** Bytes of a result that a download holds in memory. */
const pieceBytes = 64 * 1024;

/** How long the storage's own address holds; it is fetched at once, and credentials that sign it may end sooner. */
const linkSec = 300;

/**
 * What lies behind a signed address: the result as JSON, or the chart of one of its queries as SVG; its content, or
 * where the storage hands it out itself.
 */
export async function download(
  context: ServiceContext,
  jobId: string,
  query: Record<string, unknown>,
): Promise<{ readonly link: string } | ({ readonly type: string } & Reading)> {
  const { expires, signature, format = "json", query: chart = "0" } = query;
  const expected = Buffer.from(sign(context, jobId, Number(expires)));
  const given = Buffer.from(String(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ServiceError(
      "FORBIDDEN",
      "The address is not one that the service signed; take download_url from /get-job.",
    );
  }
  if (context.clock.now() >= Number(expires) * 1000) {
    throw new ServiceError("FORBIDDEN", "The address has expired; submit the job again for a new one.");
  }
  if (format !== "json" && format !== "svg")
    throw new ServiceError("BAD_REQUEST", "format must be json or svg.");
  if (typeof chart !== "string" || !/^\d{1,4}$/.test(chart))
    throw new ServiceError("BAD_REQUEST", "query must be the number of a query; the first one is 0.");
  const job = await attemptOf(context, jobId);
  const name = resultName(job, format === "svg" ? `${Number(chart)}.svg` : "json");
  const { files } = context;
  const link = await files.link(name, linkSec);
  if (link !== undefined) return { link };
  const reading = await files.read(name, { pieceBytes });
  if (reading)
    return { type: format === "svg" ? "image/svg+xml" : "application/json; charset=utf-8", ...reading };
  const isThere = (await files.list(resultName(job, "json"))).length > 0;
  throw new ServiceError(
    "NOT_FOUND",
    isThere
      ? "There is no such form of the result; format=json always is, format=svg for distributions."
      : "The result was removed, because it listed users and events of one were deleted since; submit the job again.",
  );
}

/** The try of a job that brought its result. */
async function attemptOf({ store }: ServiceContext, id: string): Promise<Attempt> {
  const job = await store.db.selectFrom("jobs").select("attempt").where("id", "=", id).executeTakeFirst();
  return { id, attempt: job?.attempt ?? 0 };
}

function sign({ secrets }: ServiceContext, jobId: string, expires: number): string {
  return createHmac("sha256", secrets.signing).update(`download\n${jobId}\n${expires}`).digest("base64url");
}
