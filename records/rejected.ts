import type { Reply } from "../contract";
import type { Batch } from "./batch";
import type { RecordKind } from "./kind";
import type { Reject } from "./rejects";

/** Record that the service rejected. */
export type RejectedRecord = Reject & { readonly id: string };

/** Returns the records of a batch that the service did not accept. A record in neither list counts as rejected. */
export function rejectedRecords(
  batch: Batch,
  { succeedIds, failedIds, failures }: Reply<RecordKind["route"]>,
  kind: RecordKind,
): RejectedRecord[] {
  if (failedIds.length === 0 && !failures?.length && succeedIds.length >= batch.ids.size) return [];
  const reasons = new Map((failures ?? []).map(({ index, reason }) => [batch.entries[index]?.id, reason]));
  const failed = new Set(failedIds);
  const accepted = new Set(succeedIds);
  const records = JSON.parse(batch.body.toString())[`${kind.type}s`] as unknown[];
  // If a batch has an id twice, the last record counts.
  const last = new Map(batch.entries.map((entry, at) => [entry.id, { ...entry, record: records[at] }]));
  return [...last.values()]
    .filter(({ id }) => failed.has(id) || reasons.has(id) || !accepted.has(id))
    .map((entry) => {
      const fallback = failed.has(entry.id)
        ? "the service gave no reason"
        : "the service did not report a result";
      return { ...entry, reason: reasons.get(entry.id) ?? fallback, record: JSON.stringify(entry.record) };
    });
}
