import type { Attributes } from "./algorithms";
import { InteractionsBuilder } from "./algorithms";
import { loadModel, type StoredModel } from "./model-file";
import { eachRecord, eachTargetEvent, Places, snapshot } from "./snapshot";
import type { Db } from "./store";
import { deletedDataset, type ProjectData } from "./training";

/** A deployment as a thread prepares it. */
export interface BuildTask {
  readonly kind: "DEPLOYMENT";
  readonly data: ProjectData;
  readonly generatorFile: string;
  readonly rankerFile: string | null;
}

/** The target events of each user: which items, how many events, and the sum of their values. */
export interface HistoryRows {
  readonly start: Uint32Array;
  readonly index: Uint32Array;
  readonly count: Uint32Array;
  readonly weight: Float32Array;
}

/** All that a deployment needs to serve; places are those of the generator, with what came after its training behind. */
export interface Build {
  readonly generator: StoredModel;
  readonly ranker: StoredModel | null;
  readonly userIds: string[];
  readonly itemIds: string[];
  /** Attributes of the items behind the generator's own. */
  readonly newItems: (Attributes | undefined)[];
  readonly history: HistoryRows;
  /** 1 for users whose events are no longer those of the training. */
  readonly changed: Uint8Array;
  /** The state of the events that was read: their last seq, and how often some were deleted. */
  readonly lastSeq: number;
  readonly deletions: number;
}

/** Brings the models together with the events and items as they stand now. */
export async function build(db: Db, { data, generatorFile, rankerFile }: BuildTask): Promise<Build> {
  const generator = loadModel(generatorFile);
  const ranker = rankerFile === null ? null : loadModel(rankerFile);
  const users = new Places([...generator.userIds]);
  const items = new Places([...generator.itemIds]);
  const newItems: (Attributes | undefined)[] = [];
  const counts = new InteractionsBuilder();
  const weights = new InteractionsBuilder();
  const state = await snapshot(db, async (frozen) => {
    await eachRecord(frozen, data.items.number, (id, attributes) => {
      const place = items.of(id);
      if (place >= generator.itemIds.length) newItems[place - generator.itemIds.length] = attributes;
    });
    await eachTargetEvent(frozen, data, (userId, itemId, value) => {
      const user = users.of(userId);
      const item = items.of(itemId);
      counts.add(user, item, 1);
      weights.add(user, item, value);
    });
    const { last } = await frozen
      .selectFrom("events")
      .select((of) => of.fn.max<number | null>("seq").as("last"))
      .executeTakeFirstOrThrow();
    const dataset = await frozen
      .selectFrom("datasets")
      .select("deletions")
      .where("number", "=", data.events.number)
      .executeTakeFirst();
    return { lastSeq: last ?? 0, deletions: dataset?.deletions ?? 0 };
  });
  newItems.length = items.ids.length - generator.itemIds.length;
  const size = [users.ids.length, items.ids.length] as const;
  const counted = counts.build(...size);
  const weighted = weights.build(...size);
  const history = {
    start: counted.start,
    index: counted.index,
    count: Uint32Array.from(counted.weight),
    weight: weightsAt(counted, weighted),
  };
  // Without its event dataset a project is served with what the model learned.
  const changed =
    data.events.number === deletedDataset
      ? new Uint8Array(0)
      : changedUsers(generator.model.interactions, weighted);
  return { generator, ranker, userIds: users.ids, itemIds: items.ids, newItems, history, changed, ...state };
}

type Rows = Pick<HistoryRows, "start" | "index" | "weight">;

/** Pairs whose values do not sum to more than 0 are in the counts but not in the weights. */
function weightsAt(all: Rows, some: Rows): Float32Array {
  const weight = new Float32Array(all.index.length);
  for (let user = 0; user + 1 < all.start.length; user++) {
    let from = some.start[user] as number;
    const end = some.start[user + 1] as number;
    for (let at = all.start[user] as number; at < (all.start[user + 1] as number); at++) {
      if (from < end && some.index[from] === all.index[at]) weight[at] = some.weight[from++] as number;
    }
  }
  return weight;
}

function changedUsers(trained: Rows, now: Rows): Uint8Array {
  const changed = new Uint8Array(now.start.length - 1);
  for (let user = 0; user < changed.length; user++) changed[user] = sameRow(trained, now, user) ? 0 : 1;
  return changed;
}

function sameRow(a: Rows, b: Rows, user: number): boolean {
  if (user + 1 >= a.start.length) return false;
  const from = a.start[user] as number;
  const other = b.start[user] as number;
  const length = (a.start[user + 1] as number) - from;
  if ((b.start[user + 1] as number) - other !== length) return false;
  for (let k = 0; k < length; k++) {
    if (a.index[from + k] !== b.index[other + k] || a.weight[from + k] !== b.weight[other + k]) return false;
  }
  return true;
}
