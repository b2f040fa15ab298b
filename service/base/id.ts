import { randomBytes } from "node:crypto";

/** Creates an id with its kind as the prefix. The specification gives no format. */
export function newId(kind: string): string {
  return `${kind}-${randomBytes(10).toString("hex")}`;
}
