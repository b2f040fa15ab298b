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
import type { HashedUsers } from "../store/forgotten";
import type { PlacedModel } from "../threads/build";
import { UserHashes } from "./user-hashes";

/** Bytes of all cached preferences. */
const mostPreferenceBytes = 64 * 1024 * 1024;

/** Limit of the candidates that are cached with preferences. */
const maxCachedCandidates = 200;

/** Bytes of an entry without its ids and vectors: its objects, and the candidates that may be added to it. */
const preferenceEntryBytes = 600 + 8 * maxCachedCandidates;

function bytesOf({ vector, chosen }: Preferences): number {
  return vector.byteLength + 8 * chosen.length;
}

/** Items with their scores, best first. */
export interface Candidates {
  readonly items: number[];
  readonly scores: number[];
}

interface CachedPreferences {
  readonly preferences: Preferences;
  readonly stamp: string;
  best?: CachedCandidates;
}

interface CachedCandidates {
  readonly items: Uint32Array;
  readonly scores: Float32Array;
  /** The number of candidates that were requested. The model may have found fewer. */
  readonly wanted: number;
  /** The model's count of changes when these were computed. */
  readonly changes: number;
}

/** Input of a ranker that puts the candidates of a generator in order. */
export interface Ordering {
  /** Scores of the generator. */
  readonly scores: readonly number[];
  /** Numbers of the items in the generator. */
  readonly placed: IdIndex;
  readonly userId: string | undefined;
  /** Returns the user's events, numbered as in the ranker. */
  readonly own: () => readonly UserItem[];
  /** The user's preferences in the ranker, if it orders by its own scores. */
  readonly preferences: Preferences | null;
}

/** A deployed model, with the current preferences of its users. */
export class ServedModel {
  readonly recommender: Recommender;
  /** Weights of events of other types. Undefined if only target events count. */
  readonly eventRule: EventRule | undefined;
  private readonly rows: Uint32Array | undefined;
  private readonly features: (Features | undefined)[];
  private readonly read: ((attributes: Attributes | undefined) => Features) | null;
  /** A learned order of the generator's candidates. Null if the model orders by its own scores. */
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

  /** Users and items have the same numbers as in the model; newer ones follow. */
  constructor(
    { model, itemVectors, rows, features }: PlacedModel,
    readonly users: IdIndex,
    readonly items: IdIndex,
    private readonly countCached: (isCached: boolean) => void,
    /** Reads the items that a user had at the time of training from the model's file. */
    private readonly itemsOfRow: (row: number) => Promise<number[]>,
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
   * Returns the preferences of a user: from their events, or null without any. If `items` is null, the event dataset is
   * deleted, and the learned preferences count. Preferences are cached for as long as the stamp of the events is the same.
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
   * changes. `changes` is the model's count of changes before the user's events were read: if it has changed since,
   * nothing is cached.
   */
  bestFor(
    userId: string,
    preferences: Preferences | null,
    wanted: number,
    changes: number,
    had: () => Iterable<number>,
  ): Candidates {
    const { recommender } = this;
    const cached = this.cachedPreferences.get(userId);
    const isCached = preferences !== null && cached?.preferences === preferences;
    const known = isCached ? cached.best : undefined;
    if (known && known.changes === recommender.changes && known.wanted >= wanted)
      return { items: [...known.items.subarray(0, wanted)], scores: [...known.scores.subarray(0, wanted)] };
    const items = recommender.candidates(preferences, wanted, had());
    const scores = recommender.foundScores(items);
    if (isCached && wanted <= maxCachedCandidates && changes === recommender.changes)
      cached.best = {
        items: Uint32Array.from(items),
        scores: Float32Array.from(scores),
        wanted,
        changes,
      };
    return { items, scores };
  }

  /** Puts candidates in order: the learned one, otherwise by the model's own scores. They keep the generator's numbers. */
  order(candidates: readonly number[], by: Ordering): readonly number[] {
    return this.ranking ? this.rank(candidates, by) : this.rerank(candidates, by);
  }

  private rerank(candidates: readonly number[], { placed, preferences }: Ordering): number[] {
    const { recommender, items } = this;
    const places = candidates.map(
      (item) => items.find(placed.ids[item] as string) ?? recommender.items + item,
    );
    const byPlace = new Map(places.map((place, at) => [place, candidates[at] as number]));
    return recommender.rerank(places, preferences).map((place) => byPlace.get(place) as number);
  }

  /** Puts the first candidates in the learned order. It applies only to users with events, as in training. */
  private rank(candidates: readonly number[], by: Ordering): readonly number[] {
    const { ranking } = this;
    const input = ranking && this.rankable(candidates, by);
    if (!input) return candidates;
    const places = new Set(input.places);
    const first = input.places.map((place) => candidates[place] as number);
    const rest = candidates.filter((_, place) => !places.has(place));
    return [...ranked(first, input.features, ranking.weights), ...rest];
  }

  /** Returns the candidates that the learned order applies to, with their features. Null if it changes nothing. */
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

  /** Gives an item a vector by its attributes, unless it has one from events. */
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

  /** Removes the events of forgotten users from the popularity of items. Returns the ids of items without other events. */
  finishForgetting(): Promise<string[]> {
    this.forgetting ??= this.unlearnRows().finally(() => {
      this.forgetting = undefined;
    });
    return this.forgetting;
  }

  private async unlearnRows(): Promise<string[]> {
    const unplaced: number[] = [];
    for (let row = this.forgottenRows[0]; row !== undefined; row = this.forgottenRows[0]) {
      unplaced.push(...this.recommender.unlearn(await this.itemsOfRow(row)));
      this.forgottenRows.shift();
    }
    if (unplaced.length > 0) this.cachedPreferences.clear();
    return unplaced.map((item) => this.items.ids[item] as string);
  }
}
