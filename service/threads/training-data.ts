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
import { JobError } from "../base/job-error";
import { Places } from "../base/places";
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

/** Writing down what a command is to learn from, as a thread carries it out. */
export interface TrainingDataTask {
  readonly kind: "TRAINING_DATA";
  readonly data: ProjectData;
  /** An empty folder. */
  readonly folder: string;
}

/** What was written down, and what is needed to judge the model that comes of it. */
export interface TrainingData {
  readonly users: number;
  readonly items: number;
  readonly interactions: number;
  /** Digests of the ids in their order. */
  readonly userIds: string;
  readonly itemIds: string;
  readonly heldOut: HeldOutUsers;
  /** Users with each item, without the pairs that are held out. */
  readonly itemCounts: Uint32Array;
  /** How many deletions of events it had seen. */
  readonly seenDeletions: number;
}

/** The tables that a trainer gets, in its folder. */
export const tableNames = {
  interactions: "interactions.parquet",
  users: "users.parquet",
  items: "items.parquet",
} as const;

const recordColumns = { index: "integer", id: "text", attributes: "text?" } as const;

/** Of so many users, one in ten at most, a tenth of the pairs is held out. */
const heldOutUsers = 2000;
const heldOutShare = 0.1;

/** Writes the interactions, users and items of a project as Parquet, but for what is held out to measure the model by. */
export async function writeTrainingData(db: Db, { data, folder }: TrainingDataTask): Promise<TrainingData> {
  const [userTable, itemTable] = (await Promise.all(
    [tableNames.users, tableNames.items].map((name) =>
      ParquetTable.create(join(folder, name), recordColumns),
    ),
  )) as [ParquetTable, ParquetTable];
  const interactions = await ParquetTable.create(join(folder, tableNames.interactions), {
    user: "integer",
    item: "integer",
    weight: "float",
  });
  const users = new Places();
  const items = new Places();
  const itemCounts: number[] = [];
  return snapshot(db, async (frozen) => {
    const seenDeletions = await existingDeletions(frozen, data);
    await eachRecordText(frozen, data.users.number, (id, text) => userTable.add(users.of(id), id, text));
    await eachRecordText(frozen, data.items.number, (id, text) => itemTable.add(items.of(id), id, text));
    const holdOut = new HoldOut(await usersWithTargetEvents(frozen, data));
    await eachUsersPairs(frozen, data, (userId, pairs) => {
      const user = users.of(userId);
      for (const { itemId, sum } of holdOut.seenOf(user, pairs, items)) {
        const item = items.of(itemId);
        interactions.add(user, item, sum);
        itemCounts[item] = (itemCounts[item] ?? 0) + 1;
      }
    });
    // Those who have events but no record.
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

/** How often events were deleted until now; what is left of a deleted dataset while it is swept away is not learned from. */
export async function existingDeletions(db: Db, data: ProjectData): Promise<number> {
  const deletions = await deletionsOf(db, data.events);
  if (deletions !== undefined) return deletions;
  throw new JobError(
    `The event dataset ${data.events.id} was deleted before the training read it; create a project over another one.`,
  );
}

/** A digest of ids in their order. */
export function digestOf(ids: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const id of ids) hash.update(`${id.length} ${id}`);
  return hash.digest("hex");
}

/** Draws the users and pairs that the trainer does not see: the latest of a user where the data has time. */
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

  /** The pairs of a user that the trainer sees. */
  seenOf(user: number, pairs: readonly Pair[], items: Places): readonly Pair[] {
    if (pairs.length < 2 || this.random.next() >= this.chance) return pairs;
    const row = this.users.push(user) - 1;
    const held = this.heldOf(pairs, Math.max(1, Math.round(pairs.length * heldOutShare)));
    return pairs.filter(({ itemId, sum }, at) => {
      (held.has(at) ? this.held : this.seen).add(row, items.of(itemId), sum);
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
