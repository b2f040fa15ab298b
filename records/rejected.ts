import type { Batch } from "./batch";
import type { RecordKind } from "./kind";
import type { Reject } from "./rejects";

/** A refused record that was sent: its id is known. */
export type RefusedRecord = Reject & { readonly id: string };

/** What the service says became of a batch. */
interface Answer {
  readonly succeedIds: readonly string[];
  readonly failedIds: readonly string[];
  readonly failures?: readonly { readonly index: number; readonly reason: string }[] | null | undefined;
}

/** The records of a batch that the service did not take; what it names in neither list it did not take either. */
export function refusedOf(
  batch: Batch,
  { succeedIds, failedIds, failures }: Answer,
  kind: RecordKind,
): RefusedRecord[] {
  if (failedIds.length === 0 && !failures?.length && succeedIds.length >= batch.ids.size) return [];
  const reasons = new Map((failures ?? []).map(({ index, reason }) => [batch.entries[index]?.id, reason]));
  const failed = new Set(failedIds);
  const taken = new Set(succeedIds);
  const records = JSON.parse(batch.body.toString())[`${kind.type}s`] as unknown[];
  // Of an id that comes twice the last counts.
  const last = new Map(batch.entries.map((entry, at) => [entry.id, { ...entry, record: records[at] }]));
  return [...last.values()]
    .filter(({ id }) => failed.has(id) || reasons.has(id) || !taken.has(id))
    .map((entry) => {
      const silent = failed.has(entry.id)
        ? "the service gave no reason"
        : "the service says nothing about it";
      return { ...entry, reason: reasons.get(entry.id) ?? silent, record: JSON.stringify(entry.record) };
    });
}
