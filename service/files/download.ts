import { createHmac, timingSafeEqual } from "node:crypto";
import { ServiceError } from "../base/error";
import type { ServiceContext } from "./service-context";
import { type Attempt, type Reading, type ResultForm, resultName } from "./storage/files";

/** How long a result can be downloaded. The specification does not define the lifetime. */
export const resultLifetimeSec = 24 * 60 * 60;

/** Returns the signed URL of a job's result. Every call for the job returns the same URL. */
export function downloadUrl(context: ServiceContext, jobId: string, finishedTs: number) {
  const expiredAtSec = Math.floor(finishedTs / 1000) + resultLifetimeSec;
  const signature = sign(context, jobId, expiredAtSec);
  return {
    downloadUrl: `${context.addresses.url}/download/${jobId}?expires=${expiredAtSec}&signature=${signature}`,
    expiredAtSec,
  };
}

/** Bytes of a result that a download keeps in memory. */
const pieceBytes = 64 * 1024;

/** Lifetime of a link to the storage, in seconds. Clients follow the link at once, so a short time is enough. */
const linkSec = 300;

/** Checks a signed URL and returns the result, or a link if the storage serves the file itself. */
export async function download(
  context: ServiceContext,
  jobId: string,
  query: Record<string, unknown>,
): Promise<{ readonly link: string } | ({ readonly type: string } & Reading)> {
  const { expires, signature, format, query: chart = "0" } = query;
  const expected = Buffer.from(sign(context, jobId, Number(expires)));
  const given = Buffer.from(String(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ServiceError(
      "FORBIDDEN",
      "The signature of this URL is not valid. Use the download_url that /get-job returns.",
    );
  }
  if (context.clock.now() >= Number(expires) * 1000) {
    throw new ServiceError("FORBIDDEN", "This URL has expired. Submit the job again for a new one.");
  }
  if (typeof chart !== "string" || !/^\d{1,4}$/.test(chart))
    throw new ServiceError("BAD_REQUEST", "query must be the index of a query. The first query has index 0.");
  const job = await attemptOf(context, jobId);
  const { form, type } = formOf(job, format ?? job.form, Number(chart));
  const name = resultName(job, form);
  const { files } = context;
  const link = await files.link(name, linkSec, type);
  if (link !== undefined) return { link };
  const reading = await files.read(name, { pieceBytes });
  if (reading) return { type, ...reading };
  const exists = (await files.list(resultName(job, job.form))).length > 0;
  throw new ServiceError(
    "NOT_FOUND",
    exists
      ? "There is no such chart. format=json always exists, but format=svg only for the queries of a distribution."
      : "The result was deleted, because events of a user whom it may list were deleted. Submit the job again.",
  );
}

/** The attempt that wrote a job's result, and what its file contains. */
interface Written extends Attempt {
  readonly form: "json" | "ndjson" | "parquet";
}

/** Returns the attempt that wrote a job's result. */
async function attemptOf({ store }: ServiceContext, id: string): Promise<Written> {
  const jobs = store.db.selectFrom("jobs").select(["attempt", "job_type", "data"]);
  const job = await jobs.where("id", "=", id).executeTakeFirst();
  const form = job?.job_type === "RECOMMENDATION" ? JSON.parse(job.data).format : "json";
  return { id, attempt: job?.attempt ?? 0, form };
}

const types = {
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
  parquet: "application/vnd.apache.parquet",
} as const;

/** Returns which file of a result to download, and its media type. */
function formOf(
  { form }: Written,
  asked: unknown,
  chart: number,
): { readonly form: ResultForm; readonly type: string } {
  if (asked === form) return { form, type: types[form] };
  if (form === "json" && asked === "svg") return { form: `${chart}.svg`, type: "image/svg+xml" };
  const forms = form === "json" ? "json or svg" : form;
  throw new ServiceError("BAD_REQUEST", `format must be ${forms}.`);
}

function sign({ secrets }: ServiceContext, jobId: string, expires: number): string {
  return createHmac("sha256", secrets.signing).update(`download\n${jobId}\n${expires}`).digest("base64url");
}
