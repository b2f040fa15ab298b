import { randomBytes } from "node:crypto";

/** Creates a random id that begins with its kind. The specification defines no format for ids. */
export function newId(kind: string): string {
  return `${kind}-${randomBytes(10).toString("hex")}`;
}
