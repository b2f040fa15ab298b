import { toUSVString } from "node:util";
import type { z } from "zod";
import { issueText, pathText } from "../../contract/messages";
import { type Detail, shortened } from "./error";

/** The faults of a request with their places as the wire names them. */
export function detailsOf(error: z.ZodError, schema: z.ZodType): Detail[] {
  return error.issues.slice(0, 20).map((issue) => ({
    path: shortened(pathText(issue.path)),
    message: shortened(issueText(issue, schema)),
  }));
}

/** Whether a text can be kept in a database as it is: half a surrogate pair cannot. */
export function storable(text: string): boolean {
  return toUSVString(text) === text;
}

/** The fields of a request whose texts cannot be kept; texts inside maps are kept as JSON, which can. */
export function unstorableFields(fields: object): Detail[] {
  return Object.entries(fields)
    .filter(([, value]) => typeof value === "string" && !storable(value))
    .map(([path]) => ({ path, message: "expected well-formed Unicode" }));
}
