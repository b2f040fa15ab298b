import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { ServiceError } from "../base/error";
import type { Basis } from "./basis";

/** How long a result can be downloaded; the specification says that it ends, not when. */
export const lifetimeSec = 24 * 60 * 60;

/** The signed address of a job's result, the same each time it is asked for. */
export function downloadUrl(context: Basis, jobId: string, finishedTs: number) {
  const expiredAtSec = Math.floor(finishedTs / 1000) + lifetimeSec;
  const signature = sign(context, jobId, expiredAtSec);
  return {
    downloadUrl: `${context.addresses.url}/download/${jobId}?expires=${expiredAtSec}&signature=${signature}`,
    expiredAtSec,
  };
}

/** What lies behind a signed address: the result as JSON, or the chart of one of its queries as SVG. */
export function download(
  context: Basis,
  jobId: string,
  query: Record<string, unknown>,
): { type: string; body: Buffer } {
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
  const file = context.folder.resultFile(jobId, format === "svg" ? `${Number(chart)}.svg` : "json");
  if (!existsSync(context.folder.resultFile(jobId, "json"))) {
    throw new ServiceError(
      "NOT_FOUND",
      "The result was removed, because it listed users and events of one were deleted since; submit the job again.",
    );
  }
  if (!existsSync(file)) {
    throw new ServiceError(
      "NOT_FOUND",
      "There is no such form of the result; format=json always is, format=svg for distributions.",
    );
  }
  return {
    type: format === "svg" ? "image/svg+xml" : "application/json; charset=utf-8",
    body: readFileSync(file),
  };
}

function sign({ secrets }: Basis, jobId: string, expires: number): string {
  return createHmac("sha256", secrets.signing).update(`download\n${jobId}\n${expires}`).digest("base64url");
}
