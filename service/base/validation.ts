import { toUSVString } from "node:util";
import type { z } from "zod";
import { issueText, pathText } from "../../contract/messages";
import { type Detail, shortened } from "./error";

/** Returns the first 20 problems in a request, with the paths of the fields. */
export function detailsOf(error: z.ZodError, schema: z.ZodType): Detail[] {
  return error.issues.slice(0, 20).map((issue) => ({
    path: shortened(pathText(issue.path)),
    message: shortened(issueText(issue, schema)),
  }));
}

/** Whether a database can store a text. A text with half of a surrogate pair cannot be stored. */
export function storable(text: string): boolean {
  return toUSVString(text) === text;
}

/** Returns the fields whose texts cannot be stored. Texts inside of maps are stored as JSON, which escapes them. */
export function unstorableFields(fields: object): Detail[] {
  return Object.entries(fields)
    .filter(([, value]) => typeof value === "string" && !storable(value))
    .map(([path]) => ({ path, message: "expected well-formed Unicode" }));
}
