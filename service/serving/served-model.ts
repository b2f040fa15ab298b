import { LRUCache } from "lru-cache";
import {
  type Attributes,
  type EventRule,
  type Features,
  featureReader,
  LATEST,
  latestOf,
  NONE,
  type Preferences,
  type Rankable,
  type Ranking,
  Recommender,
  rankable,
  ranked,
  type UserItem,
} from "../algorithms";
import type { IdIndex } from "../base/id-index";
import type { StoredRow } from "../files/format/pairs";
import type { HashedUsers } from "../store/forgotten";
import type { PlacedModel } from "../threads/build";
import {
  type CachedCandidates,
  type Candidates,
  chosenFrom,
  isCurrent,
  maxCachedCandidates,
} from "./cached-candidates";
import { type Choice, isLimited, selectionOf } from "./choice";
import { UserHashes } from "./user-hashes";

/** Maximum size of all cached preferences, in bytes. */
const mostPreferenceBytes = 64 * 1024 * 1024;

/**
 * Estimated size of an entry in bytes, without its ids and vectors: its objects, and candidates that may be added
 * later.
 */
const preferenceEntryBytes = 600 + 8 * maxCachedCandidates;

function bytesOf({ vector, chosen, sequence }: Preferences): number {
  return vector.byteLength + 8 * (chosen.length + (sequence?.items.length ?? 0));
}

interface CachedPreferences {
  readonly preferences: Preferences;
  readonly stamp: string;
  best?: CachedCandidates;
}

function* union(a: Iterable<number>, b: Iterable<number>): Generator<number> {
  yield* a;
  yield* b;
}

/** Input for a ranker that orders the candidates of a generator. */
export interface Ordering {
  /** Scores of the generator. */
  readonly scores: readonly number[];
  /** Factor for the score of each candidate. */
  readonly factors?: readonly number[] | undefined;
  /** Index of the generator's items. */
  readonly placed: IdIndex;
  readonly userId: string | undefined;
  /** Returns the user's items with their weights, numbered as in the ranker. */
  readonly own: () => readonly UserItem[];
  /** The user's preferences in the ranker, if it orders by its own scores. */
  readonly preferences: Preferences | null;
}

/** A deployed model, with the current preferences of its users. */
export class ServedModel {
  readonly recommender: Recommender;
  /** How the model uses events of other types. Undefined if it uses only target events. */
  readonly eventRule: EventRule | undefined;
  private readonly rows: Uint32Array | undefined;
  private readonly features: (Features | undefined)[];
  private readonly read: ((attributes: Attributes | undefined) => Features) | null;
  /** Learned ranking of the generator's candidates. Null if the model orders them by its own scores. */
  readonly ranking: Ranking | null;
  /** Rows of forgotten users whose events still count in the popularity of items. */
  private readonly forgottenRows: number[] = [];
  private forgetting: Promise<string[]> | undefined;
  private readonly cachedPreferences = new LRUCache<string, CachedPreferences>({
    maxSize: mostPreferenceBytes,
    sizeCalculation: ({ preferences, stamp }, userId) =>
      preferenceEntryBytes + 2 * (userId.length + stamp.length) + bytesOf(preferences),
  });
  private readonly hashes: UserHashes;

  /** `users` and `items` begin with the users and items of the model, in its order. Newer ones follow. */
  constructor(
    { model, itemVectors, rows, features }: PlacedModel,
    readonly users: IdIndex,
    readonly items: IdIndex,
    private readonly countCached: (isCached: boolean) => void,
    /** Reads from the model's file the items of a user at the time of training, and the times of these items. */
    private readonly itemsOfRow: (row: number) => Promise<StoredRow>,
  ) {
    this.recommender = new Recommender(model, itemVectors);
    this.eventRule = model.eventRule;
    this.hashes = new UserHashes(users.ids, model.users);
    this.rows = rows;
    this.features = features;
    this.ranking = model.ranking;
    this.read = model.ranking && model.itemAttributes && featureReader(model.itemAttributes.space);
  }

  /**
   * Returns the preferences of a user, computed from the user's items; null if there are none. If `items` is null, the
   * event dataset is deleted, and the learned preferences are returned. Preferences are cached as long as the stamp of
   * the events is the same.
   */
  preferencesOf(userId: string, items: (() => UserItem[]) | null, stamp = ""): Preferences | null {
    const user = this.users.find(userId);
    if (!items) return user === undefined ? null : this.recommender.learnedPreferences(user);
    const cached = this.cachedPreferences.get(userId);
    const isCurrent = cached?.stamp === stamp;
    this.countCached(isCurrent);
    if (isCurrent) return cached.preferences;
    const preferences = this.recommender.preferencesFromItems(items(), user);
    if (preferences) this.cachedPreferences.set(userId, { preferences, stamp });
    return preferences;
  }

  /**
   * Returns the best items for a user, without those in `had`. They are cached with the preferences until the model
   * changes. `changes` is the model's count of changes before the user's events were read. If this count is outdated,
   * nothing is cached. What a call allows is not cached, but is chosen from cached items if these are enough.
   */
  bestFor(
    userId: string,
    preferences: Preferences | null,
    wanted: number,
    changes: number,
    had: () => Iterable<number>,
    choice?: Choice,
  ): Candidates {
    const { recommender } = this;
    const cached = this.cachedPreferences.get(userId);
    const isCached = preferences !== null && cached?.preferences === preferences;
    const known = isCached ? cached.best : undefined;
    if (isCurrent(known, recommender.changes, choice)) {
      const found = chosenFrom(known, wanted, choice);
      if (found) return found;
    }
    const without = choice ? union(had(), choice.without) : had();
    const items = recommender.candidates(preferences, wanted, without, choice && selectionOf(choice));
    const scores = recommender.foundScores(items);
    if (choice && isLimited(choice)) return { items, scores };
    if (isCached && wanted <= maxCachedCandidates && changes === recommender.changes)
      cached.best = {
        items: Uint32Array.from(items),
        scores: Float32Array.from(scores),
        wanted,
        changes,
        stamp: choice?.standing?.stamp,
      };
    return { items, scores };
  }

  /**
   * Orders candidates by the learned ranking, or else by the model's own scores. Returns the generator's item numbers.
   */
  order(candidates: readonly number[], by: Ordering): readonly number[] {
    return this.ranking ? this.rank(candidates, by) : this.rerank(candidates, by);
  }

  private rerank(candidates: readonly number[], { placed, preferences, factors }: Ordering): number[] {
    const { recommender, items } = this;
    const places = candidates.map(
      (item) => items.find(placed.ids[item] as string) ?? recommender.items + item,
    );
    const byPlace = new Map(places.map((place, at) => [place, candidates[at] as number]));
    return recommender.rerank(places, preferences, factors).map((place) => byPlace.get(place) as number);
  }

  /** Orders the first candidates by the learned ranking, which applies only to users with events, as in training. */
  private rank(candidates: readonly number[], by: Ordering): readonly number[] {
    const { ranking } = this;
    const input = ranking && this.rankable(candidates, by);
    if (!input) return candidates;
    const places = new Set(input.places);
    const first = input.places.map((place) => candidates[place] as number);
    const rest = candidates.filter((_, place) => !places.has(place));
    const factors = by.factors && input.places.map((place) => by.factors?.[place] as number);
    return [...ranked(first, input.features, ranking.weights, factors), ...rest];
  }

  /**
   * Returns the candidates that the learned ranking reorders, with their features. Null if the ranking does not apply.
   */
  rankable(candidates: readonly number[], { scores, placed, userId, ...by }: Ordering): Rankable | null {
    const { ranking, recommender, features } = this;
    const own = ranking?.weights.length ? by.own().map(({ item }) => item) : [];
    if (!ranking || own.length === 0) return null;
    const user = userId === undefined ? undefined : this.users.find(userId);
    return rankable(
      {
        lateOf: (item) => ranking.late[item] ?? 0,
        ageOf: (item) => ranking.age[item] ?? 0,
        usual: ranking.usual,
        usersOf: (item) => recommender.usersOf(item),
        vectorOf: (item) => recommender.vectorOf(item),
        space: recommender.model.itemAttributes?.space ?? null,
        featuresOf: (item) => features[item],
      },
      {
        scores,
        own,
        items: candidates.map((item) => this.items.find(placed.ids[item] as string) ?? NONE),
        latest: user === undefined ? [] : latestOf(ranking, user),
      },
    );
  }

  /** Drops the cached preferences of a user whose events have changed. */
  userChanged(userId: string): void {
    this.cachedPreferences.delete(userId);
  }

  /** Computes the vector of an item from its attributes, unless it has a vector from events. */
  placeItem(item: number, attributes: Attributes | undefined): void {
    if (this.recommender.place(item, attributes)) this.cachedPreferences.clear();
    if (this.read && this.ranking?.weights.length) this.features[item] = this.read(attributes);
  }

  /** Removes what the model learned about a user. `finishForgetting` corrects the popularity of items. */
  forget(userId: string): void {
    this.cachedPreferences.delete(userId);
    const user = this.users.find(userId);
    if (user === undefined || !this.recommender.forget(user)) return;
    this.ranking?.latest.fill(NONE, user * LATEST, (user + 1) * LATEST);
    this.forgottenRows.push(this.rows ? (this.rows[user] as number) : user);
  }

  /** Removes what the model learned about all users of a set. */
  async forgetAll(users: HashedUsers): Promise<void> {
    for (const userId of await this.hashes.find(users)) this.forget(userId);
  }

  /** Whether the popularity of items still counts events of forgotten users. */
  get isForgetting(): boolean {
    return this.forgottenRows.length > 0;
  }

  /**
   * Removes the events of forgotten users from the popularity of items. Returns the ids of items that have no events
   * left.
   */
  finishForgetting(): Promise<string[]> {
    this.forgetting ??= this.unlearnRows().finally(() => {
      this.forgetting = undefined;
    });
    return this.forgetting;
  }

  private async unlearnRows(): Promise<string[]> {
    const unplaced: number[] = [];
    for (let row = this.forgottenRows[0]; row !== undefined; row = this.forgottenRows[0]) {
      const { items, steps } = await this.itemsOfRow(row);
      unplaced.push(...this.recommender.unlearn(items, steps));
      this.forgottenRows.shift();
    }
    if (unplaced.length > 0) this.cachedPreferences.clear();
    return unplaced.map((item) => this.items.ids[item] as string);
  }
}
