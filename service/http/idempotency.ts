import { createHash } from "node:crypto";
import { ServiceError } from "../base/error";
import type { Db, Store } from "../store/database";
import type { IdempotencyTable } from "../store/tables";

/** How long a reply is stored. */
const keptMs = 24 * 60 * 60 * 1000;

/** A call with an idempotency key. */
export interface Keyed {
  readonly key: string;
  readonly fingerprint: string;
}

/** Computes the fingerprint of a call from its operation and the bytes of its body. */
export function fingerprintOf(path: string, body: Buffer): string {
  return createHash("sha256").update(`${path}\n`).update(body).digest("base64");
}

/**
 * Runs only the first of several calls with the same key. Rejected calls are not stored: they changed nothing, and the
 * caller may correct them.
 */
export class Idempotency {
  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  /**
   * Runs the work and stores its reply in the same transaction, or returns the stored reply of an earlier call with
   * this key. The key is written first, so a concurrent call with the same key waits for this one.
   */
  async once<T>(
    db: Db,
    { key, fingerprint }: Keyed,
    work: () => Promise<T>,
  ): Promise<{ reply: T; replayed: boolean }> {
    const ofKey = { idempotency_key: key, fingerprint };
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("idempotency_keys")
      .values({ ...ofKey, reply: "", created_ts: this.now() })
      .onConflict((on) =>
        // A key that has expired can be used again.
        on
          .column("idempotency_key")
          .doUpdateSet({ fingerprint, reply: "", created_ts: this.now() })
          .where("idempotency_keys.created_ts", "<=", this.now() - keptMs),
      )
      .executeTakeFirstOrThrow();
    if (Number(numInsertedOrUpdatedRows) === 0)
      return { reply: JSON.parse(await this.kept(db, ofKey)) as T, replayed: true };
    const reply = await work();
    await db
      .updateTable("idempotency_keys")
      .set({ reply: JSON.stringify(reply) })
      .where("idempotency_key", "=", key)
      .execute();
    return { reply, replayed: false };
  }

  /** Deletes replies that are older than a day. */
  async prune(now: number): Promise<void> {
    await this.store.exclusively((db) =>
      db
        .deleteFrom("idempotency_keys")
        .where("created_ts", "<=", now - keptMs)
        .execute(),
    );
  }

  private async kept(db: Db, wanted: Pick<IdempotencyTable, "idempotency_key" | "fingerprint">) {
    const { fingerprint, reply } = await db
      .selectFrom("idempotency_keys")
      .selectAll()
      .where("idempotency_key", "=", wanted.idempotency_key)
      .executeTakeFirstOrThrow();
    if (fingerprint === wanted.fingerprint) return reply;
    throw new ServiceError(
      "IDEMPOTENCY_CONFLICT",
      "The Idempotency-Key was used for a different call. Repeat that call unchanged, or use a new key.",
    );
  }
}
