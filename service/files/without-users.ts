import {
  diagonalized,
  type Interactions,
  itemCounts,
  LearnedBuilder,
  type ModelWithoutPairs,
  type OrderModel,
  rankingOf,
  type ServableModel,
  selectUsers,
  startsOf,
  stepsOf,
  subtractUser,
} from "../algorithms";
import type { UserSet } from "../store/forgotten";
import type { OpenModel, Stored, StoredModel } from "./format/model";

/** Removes users from a model. */
export function withoutUsers(stored: StoredModel, forgotten: UserSet): StoredModel {
  const remaining = remainingUsers(stored, forgotten);
  if (!remaining) return stored;
  const { model } = stored;
  const interactions = selectUsers(model.interactions, remaining);
  const [before, after] = [itemCounts(model.interactions), itemCounts(interactions)];
  const order = model.order && orderWithout(model.order, model.interactions, new Set(remaining));
  const selected = { ...model, interactions, ...(order && { order }) };
  return selectRemaining({ ...stored, model: selected }, remaining, before, after);
}

/** Subtracts the users who do not remain from the table of the order of events. */
function orderWithout(
  { rule, table }: OrderModel,
  interactions: Interactions,
  remaining: ReadonlySet<number>,
): OrderModel {
  const amount = table.amount.slice();
  const steps = stepsOf(interactions, rule);
  for (let user = 0; user < interactions.users; user++) {
    if (remaining.has(user)) continue;
    const [from, to] = [interactions.start[user], interactions.start[user + 1]];
    const items = interactions.index.subarray(from, to);
    subtractUser({ ...table, amount }, rule, items, steps.subarray(from, to));
  }
  return { rule, table: { ...table, amount } };
}

/**
 * Removes users from a model and prepares it for serving. Reads the pairs in parts, because they may not fit into
 * memory.
 */
export async function servableWithout(
  { stored, pairs, isDiagonal }: OpenModel,
  forgotten: UserSet,
): Promise<Stored<ServableModel>> {
  const { users, items, order } = stored.model;
  const remaining = remainingUsers(stored, forgotten);
  const learned = new LearnedBuilder(
    remaining ? startsOf(pairs.start, remaining) : pairs.start,
    items,
    stored.model,
  );
  const isForgotten = new Uint8Array(users).fill(remaining ? 1 : 0);
  for (const user of remaining ?? []) isForgotten[user] = 0;
  const others = new Uint32Array(items);
  await pairs.each((user, own, weights, steps) => {
    if (!isForgotten[user]) return learned.add(own, weights, steps);
    if (order && steps) subtractUser(order.table, order.rule, own, steps);
    for (const item of own) others[item] = (others[item] as number) + 1;
  });
  const { itemUsers } = learned;
  const counts = itemUsers.map((count, item) => count + (others[item] as number));
  const model = { ...(isDiagonal ? stored.model : diagonalized(stored.model, counts)), learned };
  return remaining
    ? selectRemaining({ ...stored, model }, remaining, counts, itemUsers)
    : { ...stored, model };
}

/** Returns the remaining users, or undefined if the model contains no forgotten user. */
function remainingUsers({ userIds }: Stored<unknown>, forgotten: UserSet): Uint32Array | undefined {
  if (forgotten.size === 0) return undefined;
  const remaining = Uint32Array.from(userIds.keys()).filter(
    (user) => !forgotten.has(userIds[user] as string),
  );
  return remaining.length < userIds.length ? remaining : undefined;
}

/** Reduces a model to the remaining users. `before` and `after` contain the number of users per item. */
function selectRemaining<M extends ModelWithoutPairs>(
  stored: Stored<M>,
  remaining: Uint32Array,
  before: Uint32Array,
  after: Uint32Array,
): Stored<M> {
  const { model, userIds, rows } = stored;
  const { stride } = model;
  const userVectors = new Float32Array(remaining.length * stride);
  remaining.forEach((user, at) => {
    userVectors.set(model.userVectors.subarray(user * stride, (user + 1) * stride), at * stride);
  });
  const itemVectors = model.itemVectors.slice();
  after.forEach((count, item) => {
    // Only forgotten users interacted with the item, so its vector would reveal something about them.
    if (count === 0 && before[item]) itemVectors.fill(0, item * stride, (item + 1) * stride);
  });
  const ranking = model.ranking && rankingOf(model.ranking, remaining);
  return {
    ...stored,
    model: { ...model, users: remaining.length, userVectors, itemVectors, ranking },
    userIds: Array.from(remaining, (user) => userIds[user] as string),
    rows: rows ? remaining.map((user) => rows[user] as number) : remaining,
  };
}
