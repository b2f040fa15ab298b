import { type Interactions, rowOf } from "../interactions";
import { CUTOFF, evaluate, measure, type Quality } from "../training/evaluation";
import type { HoldOutKind } from "../training/latest";
import type { TrainedModel, TrainingReport } from "../training/model";
import { FoldIn, type UserItem } from "./fold-in";
import { Recommender } from "./recommender";
import { servable } from "./servable";

/** Users with pairs that were held out from the trainer. Row k of `seen` and `held` belongs to users[k]. */
export interface HeldOutUsers {
  readonly users: Uint32Array;
  readonly seen: Interactions;
  readonly held: Interactions;
  /** Which pairs were held out. */
  readonly kind: HoldOutKind;
}

/**
 * Quality of a model, and of recommending the most popular items, on pairs that the trainer has not seen. Both are null
 * if there are no such pairs.
 */
export interface HeldOutReport {
  readonly quality: Quality | null;
  readonly popularity: Quality | null;
  readonly heldOut: TrainingReport["heldOut"];
  readonly ranking?: TrainingReport["ranking"];
  readonly exposure?: TrainingReport["exposure"];
}

/** Measures a model on held-out pairs. `counts` is the number of users of each item, without the held-out pairs. */
export function measureHeldOut(
  model: TrainedModel,
  { users, seen, held, kind }: HeldOutUsers,
  counts: Uint32Array,
): HeldOutReport {
  const size = { pairs: held.index.length, users: users.length };
  if (users.length === 0) return { quality: null, popularity: null, heldOut: size };
  const heldOut = { ...size, kind };
  const recommender = new Recommender(servable(model));
  let [recall, ndcg] = [0, 0];
  users.forEach((user, row) => {
    const top = recommender.top(recommender.preferencesOf(user), CUTOFF, rowOf(seen, row));
    const { recall20, ndcg20 } = measure(top, rowOf(held, row));
    recall += recall20;
    ndcg += ndcg20;
  });
  const scores = Float32Array.from(counts);
  return {
    quality: { recall20: recall / users.length, ndcg20: ndcg / users.length },
    popularity: evaluate({ train: seen, test: held }, users.keys(), () => scores.slice()),
    heldOut,
  };
}

/** Adds the held-out pairs to the interactions of a model, and recomputes the vectors of their users. */
export function withHeldOut(model: TrainedModel, { users, seen, held }: HeldOutUsers): TrainedModel {
  if (users.length === 0) return model;
  const folding = new FoldIn(servable(model));
  const userVectors = model.userVectors.slice();
  const rows = new Map<number, readonly UserItem[]>();
  users.forEach((user, row) => {
    const pairs = [...pairsOf(seen, row), ...pairsOf(held, row)].sort((a, b) => a.item - b.item);
    rows.set(user, pairs);
    const vector = folding.solve(pairs);
    if (vector) userVectors.set(vector, user * model.stride);
  });
  return { ...model, userVectors, interactions: replaced(model.interactions, rows) };
}

function replaced(of: Interactions, rows: ReadonlyMap<number, readonly UserItem[]>): Interactions {
  const start = new Uint32Array(of.users + 1);
  for (let user = 0; user < of.users; user++) {
    const length = rows.get(user)?.length ?? of.start[user + 1] - of.start[user];
    start[user + 1] = start[user] + length;
  }
  const index = new Uint32Array(start[of.users]);
  const weight = new Float32Array(index.length);
  const time = of.time && new Float64Array(index.length);
  for (let user = 0; user < of.users; user++) {
    const to = start[user];
    const pairs = rows.get(user);
    if (pairs) {
      index.set(
        pairs.map(({ item }) => item),
        to,
      );
      weight.set(
        pairs.map(({ weight }) => weight),
        to,
      );
      time?.set(
        pairs.map((pair) => pair.time ?? 0),
        to,
      );
    } else {
      index.set(rowOf(of, user), to);
      weight.set(of.weight.subarray(of.start[user], of.start[user + 1]), to);
      if (of.time) time?.set(of.time.subarray(of.start[user], of.start[user + 1]), to);
    }
  }
  return { ...of, start, index, weight, time };
}

function pairsOf(of: Interactions, row: number): UserItem[] {
  const from = of.start[row];
  return Array.from(rowOf(of, row), (item, at) => ({
    item,
    weight: of.weight[from + at],
    time: of.time?.[from + at],
  }));
}
