import { LRUCache } from "lru-cache";
import type { Recommender } from "../algorithms";
import { type CachedCandidates, chosenFrom, isCurrent, maxCachedCandidates } from "./cached-candidates";
import { type Choice, selectionOf } from "./choice";

/** Maximum number of answers in memory, of about 2 kB each. */
const maxAnswers = 10_000;

/** Finds items that are similar to given ones. Keeps the best ones for the next call. */
export class SimilarItems {
  private readonly answers = new LRUCache<string, CachedCandidates>({ max: maxAnswers });

  constructor(private readonly recommender: Recommender) {}

  /** Returns the numbers of the most similar items, best first, without the given ones. */
  best(to: readonly number[], limit: number, choice: Choice | undefined): number[] {
    const { recommender } = this;
    const key = to.join();
    const cached = this.answers.get(key);
    const known = isCurrent(cached, recommender.changes, choice) ? cached : this.compute(key, to, choice);
    const found = chosenFrom(known, limit, choice);
    if (found) return found.items;
    const without = [...to, ...(choice?.without ?? [])];
    return recommender.similarity.best(to, limit, without, choice && selectionOf(choice));
  }

  private compute(key: string, to: readonly number[], choice: Choice | undefined): CachedCandidates {
    const { recommender } = this;
    const { standing } = choice ?? {};
    const items = Uint32Array.from(recommender.similarity.best(to, maxCachedCandidates, to, standing));
    const answer = {
      items,
      scores: Float32Array.from(recommender.foundScores([...items])),
      wanted: maxCachedCandidates,
      changes: recommender.changes,
      stamp: standing?.stamp,
    };
    this.answers.set(key, answer);
    return answer;
  }
}
