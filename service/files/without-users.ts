import {
  diagonalized,
  itemCounts,
  LearnedBuilder,
  type ModelWithoutPairs,
  rankingOf,
  type ServableModel,
  selectUsers,
  startsOf,
} from "../algorithms";
import type { UserSet } from "../store/forgotten";
import type { OpenModel, Stored, StoredModel } from "./format/model";

/** A model as if it had never known some users. */
export function withoutUsers(stored: StoredModel, forgotten: UserSet): StoredModel {
  const kept = keptOf(stored, forgotten);
  if (!kept) return stored;
  const { model } = stored;
  const interactions = selectUsers(model.interactions, kept);
  const [before, after] = [itemCounts(model.interactions), itemCounts(interactions)];
  return ofUsers({ ...stored, model: { ...model, interactions } }, kept, before, after);
}

/** The same as it is served; of the pairs only some are in memory at once, beside what a served model keeps of them. */
export async function servableWithout(
  { stored, pairs, isDiagonal }: OpenModel,
  forgotten: UserSet,
): Promise<Stored<ServableModel>> {
  const { users, items, neighbours } = stored.model;
  const kept = keptOf(stored, forgotten);
  const learned = new LearnedBuilder(
    kept ? startsOf(pairs.start, kept) : pairs.start,
    items,
    neighbours !== null,
  );
  const isForgotten = new Uint8Array(users).fill(kept ? 1 : 0);
  for (const user of kept ?? []) isForgotten[user] = 0;
  const others = new Uint32Array(items);
  await pairs.each((user, own, weights) => {
    if (!isForgotten[user]) learned.add(own, weights);
    else for (const item of own) others[item] = (others[item] as number) + 1;
  });
  const { itemUsers } = learned;
  const counts = itemUsers.map((count, item) => count + (others[item] as number));
  const model = { ...(isDiagonal ? stored.model : diagonalized(stored.model, counts)), learned };
  return kept ? ofUsers({ ...stored, model }, kept, counts, itemUsers) : { ...stored, model };
}

/** The users whom a model still knows; undefined if it knows none of the forgotten ones. */
function keptOf({ userIds }: Stored<unknown>, forgotten: UserSet): Uint32Array | undefined {
  if (forgotten.size === 0) return undefined;
  const kept = Uint32Array.from(userIds.keys()).filter((user) => !forgotten.has(userIds[user] as string));
  return kept.length < userIds.length ? kept : undefined;
}

/** A model with some of its users alone, given how many users each item had and has. */
function ofUsers<M extends ModelWithoutPairs>(
  stored: Stored<M>,
  kept: Uint32Array,
  before: Uint32Array,
  after: Uint32Array,
): Stored<M> {
  const { model, userIds, rows } = stored;
  const { stride } = model;
  const userVectors = new Float32Array(kept.length * stride);
  kept.forEach((user, at) => {
    userVectors.set(model.userVectors.subarray(user * stride, (user + 1) * stride), at * stride);
  });
  const itemVectors = model.itemVectors.slice();
  after.forEach((count, item) => {
    // Only the forgotten users placed it.
    if (count === 0 && before[item]) itemVectors.fill(0, item * stride, (item + 1) * stride);
  });
  const ranking = model.ranking && rankingOf(model.ranking, kept);
  return {
    ...stored,
    model: { ...model, users: kept.length, userVectors, itemVectors, ranking },
    userIds: Array.from(kept, (user) => userIds[user] as string),
    rows: rows ? kept.map((user) => rows[user] as number) : kept,
  };
}
