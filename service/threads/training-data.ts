import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  createRandom,
  DEFAULT_SEED,
  type HeldOutUsers,
  InteractionsBuilder,
  latestOrder,
  sample,
} from "../algorithms";
import { IdIndex } from "../base/id-index";
import { JobError } from "../base/job-error";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";
import {
  deletionsOf,
  eachRecordText,
  eachUsersPairs,
  type Pair,
  snapshot,
  usersWithTargetEvents,
} from "../store/snapshot";
import { ParquetTable } from "./parquet";

/** A task to write the training data for a trainer command. */
export interface TrainingDataTask {
  readonly kind: "TRAINING_DATA";
  readonly data: ProjectData;
  /** An empty directory. */
  readonly directory: string;
}

/** Summary of the training data, and the held-out pairs to measure the model with. */
export interface TrainingData {
  readonly users: number;
  readonly items: number;
  readonly interactions: number;
  /** Digest of all user ids in their order. */
  readonly userIds: string;
  /** Digest of all item ids in their order. */
  readonly itemIds: string;
  readonly heldOut: HeldOutUsers;
  /** Number of users of each item, without held-out pairs. */
  readonly itemCounts: Uint32Array;
  /** The event dataset's count of deletions when the data was read. */
  readonly seenDeletions: number;
}

/** File names of the tables. */
export const tableNames = {
  interactions: "interactions.parquet",
  users: "users.parquet",
  items: "items.parquet",
} as const;

const recordColumns = { index: "integer", id: "text", attributes: "text?" } as const;

/**
 * Pairs are held out from about this many users, or from a tenth of the users if that is less. Of each such user, a
 * tenth of the pairs is held out.
 */
const heldOutUsers = 2000;
const heldOutShare = 0.1;

/** Writes the interactions, users and items of a project as Parquet files, without the held-out pairs. */
export async function writeTrainingData(
  db: Db,
  { data, directory }: TrainingDataTask,
): Promise<TrainingData> {
  const [userTable, itemTable] = (await Promise.all(
    [tableNames.users, tableNames.items].map((name) =>
      ParquetTable.create(join(directory, name), recordColumns),
    ),
  )) as [ParquetTable, ParquetTable];
  const interactions = await ParquetTable.create(join(directory, tableNames.interactions), {
    user: "integer",
    item: "integer",
    weight: "float",
    time: "double",
  });
  const users = new IdIndex();
  const items = new IdIndex();
  const itemCounts: number[] = [];
  return snapshot(db, async (frozen) => {
    const seenDeletions = await existingDeletions(frozen, data);
    await eachRecordText(frozen, data.users.number, (id, text) => userTable.add(users.add(id), id, text));
    await eachRecordText(frozen, data.items.number, (id, text) => itemTable.add(items.add(id), id, text));
    const holdOut = new HoldOut(await usersWithTargetEvents(frozen, data));
    await eachUsersPairs(frozen, data, (userId, pairs) => {
      const user = users.add(userId);
      for (const { itemId, sum, time } of holdOut.seenOf(user, pairs, items)) {
        const item = items.add(itemId);
        interactions.add(user, item, sum, time);
        itemCounts[item] = (itemCounts[item] ?? 0) + 1;
      }
    });
    // Adds the users and items that have events but no record.
    for (const [table, { ids }] of [
      [userTable, users],
      [itemTable, items],
    ] as const)
      while (table.rows < ids.length) table.add(table.rows, ids[table.rows] as string, null);
    for (const table of [userTable, itemTable, interactions]) table.finish();
    return {
      users: users.ids.length,
      items: items.ids.length,
      interactions: interactions.rows,
      userIds: digestOf(users.ids),
      itemIds: digestOf(items.ids),
      heldOut: holdOut.whole(items.ids.length),
      itemCounts: Uint32Array.from({ length: items.ids.length }, (_, item) => itemCounts[item] ?? 0),
      seenDeletions,
    };
  });
}

/**
 * Returns the event dataset's count of deletions. Fails if the dataset was deleted, even if some of its events still
 * exist.
 */
export async function existingDeletions(db: Db, data: ProjectData): Promise<number> {
  const deletions = await deletionsOf(db, data.events);
  if (deletions !== undefined) return deletions;
  throw new JobError(
    `The event dataset ${data.events.id} was deleted before the training job read it. Create a project with another event dataset.`,
  );
}

/** Returns a digest of ids that depends on their order. */
export function digestOf(ids: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const id of ids) hash.update(`${id.length} ${id}`);
  return hash.digest("hex");
}

/**
 * Selects the held-out pairs of a sample of users: their latest pairs if events have different times, otherwise random
 * ones.
 */
class HoldOut {
  private readonly random = createRandom(DEFAULT_SEED);
  private readonly chance: number;
  private readonly users: number[] = [];
  private readonly seen = new InteractionsBuilder();
  private readonly held = new InteractionsBuilder();
  private readonly kind: HeldOutUsers["kind"];

  constructor({ users, haveTime }: { readonly users: number; readonly haveTime: boolean }) {
    this.chance = Math.min(heldOutShare, heldOutUsers / users);
    this.kind = haveTime ? "latest" : "random";
  }

  /** Returns the pairs of a user that are not held out. */
  seenOf(user: number, pairs: readonly Pair[], items: IdIndex): readonly Pair[] {
    if (pairs.length < 2 || this.random.next() >= this.chance) return pairs;
    const row = this.users.push(user) - 1;
    const held = this.heldOf(pairs, Math.max(1, Math.round(pairs.length * heldOutShare)));
    return pairs.filter(({ itemId, sum, time }, at) => {
      (held.has(at) ? this.held : this.seen).add(row, items.add(itemId), sum, time);
      return !held.has(at);
    });
  }

  private heldOf(pairs: readonly Pair[], count: number): ReadonlySet<number> {
    const held =
      this.kind === "latest"
        ? latestOrder(pairs.map(({ time }) => time)).subarray(0, count)
        : sample(this.random, pairs.length, count);
    return new Set(held);
  }

  whole(items: number): HeldOutUsers {
    const { users, seen, held } = this;
    return {
      users: Uint32Array.from(users),
      seen: seen.build(users.length, items),
      held: held.build(users.length, items),
      kind: this.kind,
    };
  }
}
