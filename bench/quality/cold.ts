import { limits } from "../../contract";
import { createRandom } from "../../service/algorithms/random";
import type { DataSet } from "./data";
import { cut, mean, perUser, popularity, standardError } from "./measure";
import type { Recommender } from "./recommender";
import { holdOutWhole, shuffled } from "./split";

const folds = 5;
const shuffles = 10;

/** Two methods on the same users: the quality of each, and the standard error of the difference. */
interface Compared {
  readonly ndcg20: number;
  readonly baseNdcg20: number;
  readonly difference: number;
  readonly differenceStandardError: number;
}

/** Compares recommendations for users without events, based on their attributes, with popularity. Five folds cover all users. */
export async function coldUsers(of: DataSet, recommender: Recommender): Promise<Compared> {
  const ours: number[] = [];
  const base: number[] = [];
  for (const { train, wanted } of holdOutWhole(of.pairs, "user", folds)) {
    const { lists } = await recommender.learn("cold users", train, wanted.keys(), cut);
    ours.push(...ndcgs(lists, wanted));
    base.push(...ndcgs(popularity(train, wanted.keys()), wanted));
  }
  return compared(ours, base);
}

/**
 * Measures the order of items without events, based on their attributes, in users' lists. Five folds cover all items.
 * Popularity does not know these items, so it orders them at random.
 */
export async function coldItems(of: DataSet, recommender: Recommender) {
  const random = createRandom(7);
  const ours: number[] = [];
  const base: number[] = [];
  const shares: number[] = [];
  for (const { cold, train, wanted } of holdOutWhole(of.pairs, "item", folds)) {
    // Only the first 20 cold items of each list count. The longest list that the service returns contains far more.
    const limit = Math.min(of.items.size, limits.recommendedItems);
    const { lists } = await recommender.learn("cold items", train, wanted.keys(), limit);
    for (const list of lists.values()) {
      shares.push(list.slice(0, cut).filter((item) => cold.has(item)).length / cut);
    }
    const coldOnly = [...lists].map(([user, list]): [string, string[]] => [
      user,
      list.filter((item) => cold.has(item)),
    ]);
    ours.push(...ndcgs(new Map(coldOnly), wanted));
    const orders = Array.from({ length: shuffles }, () => {
      const each = [...wanted.keys()].map((user): [string, string[]] => [
        user,
        shuffled([...cold], random.below),
      ]);
      return ndcgs(new Map(each), wanted);
    });
    base.push(...[...wanted.keys()].map((_, at) => mean(orders.map((order) => order[at] as number))));
  }
  return { ...compared(ours, base), shareAmongFirst20: mean(shares), shareOfItems: 1 / folds };
}

function ndcgs(...measured: Parameters<typeof perUser>): number[] {
  return perUser(...measured).map(({ ndcg20 }) => ndcg20);
}

function compared(ours: readonly number[], base: readonly number[]): Compared {
  const differences = ours.map((value, at) => value - (base[at] as number));
  return {
    ndcg20: mean(ours),
    baseNdcg20: mean(base),
    difference: mean(differences),
    differenceStandardError: standardError(differences),
  };
}
