import type { OrphanType } from "../../contract";
import { type Origin, originHeader, parseOrigin } from "../../contract/origin";
import type { Db } from "../store/database";
import { addHolder, holderOf } from "../store/holders";
import type { Call } from "./handler";

/** Returns the stack and resource that make a call, or undefined if the caller did not send them. */
export function originIn({ headers }: Pick<Call, "headers">): Origin | undefined {
  const header = headers[originHeader];
  return typeof header === "string" ? parseOrigin(header) : undefined;
}

/** Records that the calling stack uses an object. */
export function holdFor(
  call: Pick<Call, "headers">,
  db: Db,
  objectType: OrphanType,
  objectId: string,
): Promise<void> {
  return addHolder(db, { objectType, objectId }, holderOf(originIn(call)));
}
