import type { Preferences, UserItem } from "../algorithms";
import type { Deployed } from "./deployed";
import { type Basis, type Person, readUser } from "./person";
import type { ServedModel } from "./served-model";

/** Minimum number of candidates for a ranker or for diversity to choose from. */
const minCandidates = 100;

/** Recommended items and how they were chosen. Items are numbered as in the generator. */
export interface Recommended {
  readonly items: readonly number[];
  /** The model that computes the scores: the ranker if it orders by its own scores, otherwise the generator. */
  readonly scorer: ServedModel;
  readonly preferences: Preferences | null;
  readonly basis: Basis;
  /** Whether a ranker changed the order. */
  readonly isReordered: boolean;
}

/** Returns the ids of the best items for a user. Leaves out items that must not be recommended to the user again. */
export async function recommend(
  deployed: Deployed,
  userId: string,
  limit: number,
  isAddressed: boolean,
): Promise<string[]> {
  const user = await readUser(deployed, userId, isAddressed);
  const { items } = await recommendTo(deployed, user, limit);
  return items.map((item) => deployed.items.ids[item] as string);
}

/** Finds candidates with the generator, orders them with the ranker if there is one, and applies diversity. */
export async function recommendTo(deployed: Deployed, person: Person, limit: number): Promise<Recommended> {
  const { generator, ranker } = deployed;
  const first = await person.preferencesIn(generator);
  const scorer = ranker && !ranker.ranking ? ranker : generator;
  const last = scorer === generator ? first : await person.preferencesIn(scorer);
  const isChosenLater = generator.recommender.diversity > 0 || ranker !== undefined;
  const wanted = isChosenLater ? Math.max(limit, minCandidates) : limit;
  const candidates = person.candidates(first.preferences, wanted);
  const ordered = ranker?.order(candidates.items, {
    scores: candidates.scores,
    placed: deployed.items,
    userId: person.userId,
    preferences: last.preferences,
    own: (): UserItem[] => person.eventsIn(ranker),
  });
  return {
    items: generator.recommender.spread(ordered ?? candidates.items, limit),
    scorer,
    ...last,
    isReordered: ordered !== undefined && ordered !== candidates.items,
  };
}
