import { createHash } from "node:crypto";
import { ServiceError } from "../base/error";
import type { Db, Store } from "../store/database";

/** How long an answer is kept. */
const keptMs = 24 * 60 * 60 * 1000;

/** A call that may be made again under its key. */
export interface Keyed {
  readonly key: string;
  readonly fingerprint: string;
}

/** What distinguishes one call from another: the operation and its body, byte by byte. */
export function fingerprintOf(path: string, body: Buffer): string {
  return createHash("sha256").update(`${path}\n`).update(body).digest("base64");
}

/** Makes calls of the same key one call. Refused calls are not kept: they changed nothing and may be mended. */
export class Idempotency {
  private readonly underWay = new Map<string, Promise<unknown>>();

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  /** Runs the work, or gives the answer that it gave before under this key. */
  async once<T>(
    { key, fingerprint }: Keyed,
    work: () => Promise<T>,
  ): Promise<{ reply: T; replayed: boolean }> {
    // A call of the same key may be under way; its outcome decides, and after a refusal the next one gets its turn.
    for (let other = this.underWay.get(key); other; other = this.underWay.get(key))
      await other.catch(() => undefined);
    const done = this.lookUp(key, fingerprint).then(async (kept) =>
      kept ? { reply: JSON.parse(kept) as T, replayed: true } : { reply: await work(), replayed: false },
    );
    this.underWay.set(key, done);
    try {
      return await done;
    } finally {
      this.underWay.delete(key);
    }
  }

  /** Keeps an answer in the transaction of the work itself, so that neither is there without the other. */
  async keep(db: Db, { key, fingerprint }: Keyed, reply: unknown): Promise<void> {
    const row = { idempotency_key: key, fingerprint, reply: JSON.stringify(reply), created_ts: this.now() };
    await db
      .insertInto("idempotency_keys")
      .values(row)
      .onConflict((on) => on.column("idempotency_key").doUpdateSet(row))
      .execute();
  }

  /** Forgets the answers of yesterday. */
  async prune(): Promise<void> {
    await this.store.transaction((db) =>
      db
        .deleteFrom("idempotency_keys")
        .where("created_ts", "<=", this.now() - keptMs)
        .execute(),
    );
  }

  private async lookUp(key: string, fingerprint: string): Promise<string | undefined> {
    const kept = await this.store.db
      .selectFrom("idempotency_keys")
      .selectAll()
      .where("idempotency_key", "=", key)
      .where("created_ts", ">", this.now() - keptMs)
      .executeTakeFirst();
    if (!kept) return undefined;
    if (kept.fingerprint === fingerprint) return kept.reply;
    throw new ServiceError(
      "IDEMPOTENCY_CONFLICT",
      "The Idempotency-Key was used for another call; repeat that call unchanged, or use a new key.",
    );
  }
}
