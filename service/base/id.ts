import { randomBytes } from "node:crypto";

/** A new identifier that tells its kind; the specification shows no format. */
export function newId(kind: string): string {
  return `${kind}-${randomBytes(10).toString("hex")}`;
}

/** The shard of a record: a stable hash of its id (FNV-1a), so that the same id always lands in the same shard. */
export function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shards;
}
