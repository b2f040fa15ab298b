import type { z } from "zod";
import { decode, limits, wireSchema } from "../../contract";
import { issuesText } from "../../contract/messages";
import { shortened } from "../base/error";
import { createYielder } from "../base/event-loop";
import type { Dataset } from "../store/tables";

/** A record that an upsert rejected, and the reason. */
export interface Failure {
  readonly id: string | null;
  readonly index: number;
  readonly reason: string;
}

/** The records of an upsert, split into valid ones and failures. If an id occurs twice, its last record is used. */
export interface Parted<T> {
  readonly kept: Map<string, T>;
  readonly failures: Map<string | number, Failure>;
  readonly indexes: Map<string, number>;
}

/**
 * Checks each record separately, so valid records are stored even if others are not. Other calls can run in between.
 */
export async function part<T>(
  schema: z.ZodType<T>,
  idKey: string,
  records: readonly unknown[],
  refuse: (record: T, raw: unknown) => string | undefined = () => undefined,
): Promise<Parted<T>> {
  const check = wireSchema(schema);
  const yieldIfBusy = createYielder();
  const kept = new Map<string, T>();
  const failures = new Map<string | number, Failure>();
  const indexes = new Map<string, number>();
  for (const [index, raw] of records.entries()) {
    const id = idOf(raw, idKey);
    const parsed = check.safeParse(raw);
    const record = parsed.success ? (decode(schema, parsed.data) as T) : undefined;
    const reason = parsed.success ? refuse(record as T, raw) : faultsOf(parsed.error, check);
    if (id !== null) {
      kept.delete(id);
      failures.delete(id);
      indexes.set(id, index);
    }
    if (reason === undefined) kept.set(id as string, record as T);
    else failures.set(id ?? index, { id, index, reason });
    await yieldIfBusy();
  }
  return { kept, failures, indexes };
}

/** Returns why a valid record is too large, or undefined if it is not. */
export function oversize(noun: string, raw: unknown, most: number): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(raw));
  if (bytes <= most) return undefined;
  return `the ${noun} takes ${bytes} bytes as JSON, but at most ${most} are allowed; shorten its attributes`;
}

/** Adds failures for new records beyond the capacity of the dataset, which is num_shards × records per shard. */
export function withinCeiling<T>(
  parted: Parted<T>,
  dataset: Dataset,
  free: number,
  existing: Set<string>,
): Parted<T> {
  const ceiling = dataset.num_shards * limits.recordsPerShard;
  const kept = new Map(parted.kept);
  const failures = new Map(parted.failures);
  let room = free;
  for (const id of parted.kept.keys()) {
    if (existing.has(id) || room-- > 0) continue;
    kept.delete(id);
    const index = parted.indexes.get(id) as number;
    const reason =
      `the dataset is full: with num_shards ${dataset.num_shards}, it can hold ${ceiling} records; ` +
      "delete old records or create a dataset with more shards";
    failures.set(id, { id, index, reason });
  }
  return { ...parted, kept, failures };
}

/** Splits the ids of an upsert by outcome. */
export function outcomeOf<T>({ kept, failures }: Parted<T>) {
  const failed = [...failures.values()];
  return {
    succeedIds: [...kept.keys()],
    failedIds: failed.flatMap(({ id }) => (id === null ? [] : [id])),
    failures: failed,
  };
}

function idOf(raw: unknown, idKey: string): string | null {
  if (typeof raw !== "object" || raw === null) return null;
  const id = (raw as Record<string, unknown>)[idKey];
  return typeof id === "string" && id !== "" ? id : null;
}

function faultsOf(error: z.ZodError, schema: z.ZodType): string {
  const faults = error.issues.slice(0, 5).map((issue) => shortened(issuesText([issue], schema)));
  return faults.join("; ");
}
