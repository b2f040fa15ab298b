import type { AppliedRule } from "../../contract";
import { factorOf, type Preferences, type UserItem, weighed } from "../algorithms";
import { type Choice, choiceOf, isAllowed, type Restrictions } from "./choice";
import type { Deployed } from "./deployed";
import { type Basis, EditedPerson, type Person, readUser } from "./person";
import { type Arrangement, arranged, type Listed, pinEffects } from "./rules/arrange";
import { factorEffects } from "./rules/deployed-rules";
import type { ServedModel } from "./served-model";
import type { Visit } from "./visit";

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
  /** Returns what the rules of the deployment did to an item. */
  applied(item: number): AppliedRule[];
}

/** Parameters of a call for recommendations. */
export interface Asked extends Restrictions {
  /** The user; undefined for a visitor without an id, who has events of the current visit. */
  readonly userId?: string | undefined;
  readonly limit: number;
  /** Whether the caller named the project. */
  readonly isAddressed: boolean;
  /** Events of the current visit. */
  readonly visit?: Visit | undefined;
}

/** Returns the ids of the best items for a user. Leaves out items that must not be recommended to the user again. */
export async function recommend(deployed: Deployed, asked: Asked): Promise<string[]> {
  const { userId, visit, limit, isAddressed } = asked;
  const person =
    userId === undefined || visit
      ? await EditedPerson.read(deployed, { ...asked, visit: visit ?? [], add: [], remove: [] })
      : await readUser(deployed, userId, isAddressed);
  const { items } = await recommendTo(deployed, person, limit, await choiceOf(deployed, asked, person));
  return items.map((item) => deployed.items.ids[item] as string);
}

/** Finds candidates with the generator, orders them with the ranker if there is one, and applies diversity and rules. */
export async function recommendTo(
  deployed: Deployed,
  person: Person,
  limit: number,
  choice?: Choice,
): Promise<Recommended> {
  const { generator, ranker } = deployed;
  const first = await person.preferencesIn(generator);
  const scorer = ranker && !ranker.ranking ? ranker : generator;
  const last = scorer === generator ? first : await person.preferencesIn(scorer);
  const arrangement = await arrangementFor(deployed, person, choice);
  const isChosenLater = generator.recommender.diversity > 0 || ranker !== undefined;
  // A ranker orders the same candidates, however many items the rules leave out.
  const reordered = Math.max(limit, minCandidates);
  let isReordered = false;
  const list = (wanted: number): Listed => {
    const asked = isChosenLater ? Math.max(wanted, reordered) : wanted;
    const { items, scores } = person.candidates(first.preferences, asked, choice);
    const head = items.slice(0, reordered);
    const factors = choice?.standing && head.map((item) => factorOf(item, choice.standing?.weights));
    const ordered = ranker?.order(head, {
      scores: factors
        ? head.map((_, at) => weighed(scores[at] as number, 1 / (factors[at] as number)))
        : scores,
      factors,
      placed: deployed.items,
      userId: person.userId,
      preferences: last.preferences,
      own: (): UserItem[] => person.eventsIn(ranker),
    });
    isReordered = ordered !== undefined && ordered !== head;
    const all = ordered ? [...ordered, ...items.slice(reordered)] : items;
    return {
      items: generator.recommender.spread(all, wanted),
      isComplete: items.length < asked && items.length <= wanted,
    };
  };
  const items = arrangement ? arranged(limit, arrangement, list) : list(limit).items;
  const pinned = pinEffects(arrangement?.pins ?? [], limit);
  const applied = (item: number) => [
    ...factorEffects(item, choice?.standing),
    ...[pinned.get(item)].filter((effect) => effect !== undefined),
  ];
  return { items, scorer, ...last, isReordered, applied };
}

/** Finds the items that rules pin for a person, and the limits of rules. */
async function arrangementFor(
  { rules }: Deployed,
  person: Person,
  choice: Choice | undefined,
): Promise<Arrangement | undefined> {
  if (!rules) return undefined;
  let had: ReadonlySet<number> | undefined;
  return rules.arrangementFor({ attributes: () => person.readAttributes() }, (item) => {
    had ??= new Set(person.had());
    return !had.has(item) && isAllowed(choice, item);
  });
}
