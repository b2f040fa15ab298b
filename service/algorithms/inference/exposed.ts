import { type Exposure, meanCosine } from "../exposure";
import { rowOf, usersWithItems } from "../interactions";
import { mean } from "../linear-algebra";
import { createRandom, DEFAULT_SEED, sample } from "../random";
import { CUTOFF } from "../training/evaluation";
import type { TrainedModel } from "../training/model";
import { Recommender } from "./recommender";
import { servable } from "./servable";

/** An item with fewer users than this is cold. */
const COLD_USERS = 5;
const MOST_USERS = 1000;
/** Maximum number of multiplications for computing all scores. This many take about half a second. */
const MOST_PRODUCTS = 2e9;

/** Measures which items a model shows to a sample of its training users. Returns null if it shows no items. */
export function measureExposure(model: TrainedModel, chosen = model.interactions): Exposure | null {
  const recommender = new Recommender(servable(model));
  const { items, stride, eventRule, interactions } = model;
  const withAny = usersWithItems(chosen).filter((user) => recommender.preferencesOf(user));
  const most = Math.min(MOST_USERS, Math.ceil(MOST_PRODUCTS / (items * stride)));
  const users = Array.from(sample(createRandom(DEFAULT_SEED), withAny.length, most), (at) => withAny[at]);
  const had = eventRule && !eventRule.recommendSeen ? interactions : chosen;
  const lists = users
    .map((user) => recommender.top(recommender.preferencesOf(user), CUTOFF, rowOf(had, user)))
    .filter((list) => list.length > 0);
  if (lists.length === 0) return null;
  const shown = lists.flat();
  const rankOf = popularityRanks(Array.from({ length: items }, (_, item) => recommender.usersOf(item)));
  return {
    coverage20: new Set(shown).size / items,
    coldItems20: mean(shown.map((item) => (recommender.usersOf(item) < COLD_USERS ? 1 : 0))),
    diversity20: 1 - mean(lists.map((list) => meanCosine(list.map((item) => recommender.vectorOf(item))))),
    shownPopularity20: mean(shown.map(rankOf)),
    chosenPopularity: mean(users.flatMap((user) => Array.from(rowOf(chosen, user), rankOf))),
  };
}

/**
 * Returns a function that gives an item's popularity rank, from 0 to 1. Items with equal counts share their mean rank.
 */
function popularityRanks(counts: readonly number[]): (item: number) => number {
  const sorted = Uint32Array.from(counts).sort();
  const ranks = new Map<number, number>();
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && sorted[to] === sorted[from]) to++;
    ranks.set(sorted[from], (from + to - 1) / 2 / Math.max(1, sorted.length - 1));
  }
  return (item) => ranks.get(counts[item]) ?? 0;
}
