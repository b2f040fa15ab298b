import { randomBytes } from "node:crypto";

/** A new identifier that names its kind; the specification shows no format. */
export function newId(kind: string): string {
  return `${kind}-${randomBytes(10).toString("hex")}`;
}
