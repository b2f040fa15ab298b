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
import type { Places } from "../base/places";
import type { HashedUsers } from "../store/forgotten";
import type { PlacedModel } from "../threads/build";
import { UserHashes } from "./user-hashes";

/** Bytes of all cached preferences. */
const mostPreferenceBytes = 64 * 1024 * 1024;

/** Limit of the items that are cached with preferences. */
const mostKept = 200;

/** Bytes of an entry beside its ids and vectors: the objects that hold them, and the items that may be kept with it. */
const preferenceEntryBytes = 600 + 8 * mostKept;

function bytesOf({ vector, chosen }: Preferences): number {
  return vector.byteLength + 8 * chosen.length;
}

/** What a model knows of a user whom it has answered. */
interface Kept {
  readonly preferences: Preferences;
  readonly stamp: string;
  best?: Best;
}

/** The items that fit a user best, with their scores, as they were after so many changes of the model. */
interface Best {
  readonly items: Uint32Array;
  readonly scores: Float32Array;
  /** How many were asked for; there may be fewer. */
  readonly wanted: number;
  readonly changes: number;
}

/** What the candidates of a generator are put in order by. */
export interface Ordering {
  /** Those of the generator. */
  readonly scores: readonly number[];
  /** The places of the generator. */
  readonly placed: Places;
  readonly userId: string | undefined;
  /** The user's events in the places of the ranker. */
  readonly own: () => readonly UserItem[];
  /** The user's preferences in the ranker, if it orders by its own scores. */
  readonly preferences: Preferences | null;
}

/** A model in service, with the preferences of the users as their events stand. */
export class ServedModel {
  readonly recommender: Recommender;
  /** How events of other types count; absent where the target event alone does. */
  readonly eventRule: EventRule | undefined;
  private readonly rows: Uint32Array | undefined;
  private readonly features: (Features | undefined)[];
  private readonly read: ((attributes: Attributes | undefined) => Features) | null;
  /** How it ranks the candidates of a generator; null where that is by its own scores. */
  readonly ranking: Ranking | null;
  private readonly leaving: number[] = [];
  private lettingGo: Promise<string[]> | undefined;
  private readonly cachedPreferences = new LRUCache<string, Kept>({
    maxSize: mostPreferenceBytes,
    sizeCalculation: ({ preferences, stamp }, userId) =>
      preferenceEntryBytes + 2 * (userId.length + stamp.length) + bytesOf(preferences),
  });
  private readonly hashes: UserHashes;

  /** The places begin with those of the model. */
  constructor(
    { model, itemVectors, rows, features }: PlacedModel,
    readonly users: Places,
    readonly items: Places,
    private readonly count: (isKept: boolean) => void,
    /** Reads from the model's file what a user had when it was trained, since memory holds no events of that. */
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
   * The preferences of a user from his events, null without any; where all events are gone, that of the training. What was
   * computed is kept as long as the stamp of the events is the same.
   */
  preferencesOf(userId: string, items: (() => UserItem[]) | null, stamp = ""): Preferences | null {
    const user = this.users.find(userId);
    if (!items) return user === undefined ? null : this.recommender.learnedPreferences(user);
    const kept = this.cachedPreferences.get(userId);
    const holds = kept?.stamp === stamp;
    this.count(holds);
    if (holds) return kept.preferences;
    const preferences = this.recommender.preferencesFromItems(items(), user);
    if (preferences) this.cachedPreferences.set(userId, { preferences, stamp });
    return preferences;
  }

  /**
   * What fits a user best of the items that he has not had, and the scores. The list of cached preferences is cached with them, for as
   * long as nothing has changed; and only where nothing had since the user's events were read, after so many changes.
   */
  bestFor(
    userId: string,
    preferences: Preferences | null,
    wanted: number,
    changes: number,
    had: () => Iterable<number>,
  ) {
    const { recommender } = this;
    const kept = this.cachedPreferences.get(userId);
    const isKept = preferences !== null && kept?.preferences === preferences;
    const known = isKept ? kept.best : undefined;
    if (known && known.changes === recommender.changes && known.wanted >= wanted)
      return { items: [...known.items.subarray(0, wanted)], scores: [...known.scores.subarray(0, wanted)] };
    const items = recommender.candidates(preferences, wanted, had());
    const scores = recommender.foundScores(items);
    if (isKept && wanted <= mostKept && changes === recommender.changes)
      kept.best = {
        ...{ items: Uint32Array.from(items), scores: Float32Array.from(scores) },
        ...{ wanted, changes },
      };
    return { items, scores };
  }

  /** Puts candidates, in the places of the generator, in order: as it has learned to, otherwise by its own scores. */
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

  /**
   * Puts the first candidates, in the places of the generator, in the order of what the ranking has learned. Those of a
   * user without events stay as they are, for it has learned nothing about such users.
   */
  private rank(candidates: readonly number[], by: Ordering): readonly number[] {
    const { ranking } = this;
    const input = ranking && this.rankable(candidates, by);
    if (!input) return candidates;
    const places = new Set(input.places);
    const first = input.places.map((place) => candidates[place] as number);
    const rest = candidates.filter((_, place) => !places.has(place));
    return [...ranked(first, input.features, ranking.weights), ...rest];
  }

  /** The candidates that the ranking puts in order, with the features it does that by; null if it changes nothing. */
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
        ...{ scores, own },
        items: candidates.map((item) => this.items.find(placed.ids[item] as string) ?? NONE),
        latest: user === undefined ? [] : latestOf(ranking, user),
      },
    );
  }

  /** Takes note that the events of a user changed. */
  userChanged(userId: string): void {
    this.cachedPreferences.delete(userId);
  }

  /** Places an item by its attributes, unless events placed it. */
  placeItem(item: number, attributes: Attributes | undefined): void {
    if (this.recommender.place(item, attributes)) this.cachedPreferences.clear();
    if (this.read && this.ranking?.weights.length) this.features[item] = this.read(attributes);
  }

  /** Lets go of what the model learned about a user. */
  forget(userId: string): void {
    this.cachedPreferences.delete(userId);
    const user = this.users.find(userId);
    if (user === undefined || !this.recommender.forget(user)) return;
    this.ranking?.latest.fill(NONE, user * LATEST, (user + 1) * LATEST);
    this.leaving.push(this.rows ? (this.rows[user] as number) : user);
  }

  /** The same for all users of a set. */
  async forgetAll(users: HashedUsers): Promise<void> {
    for (const userId of await this.hashes.find(users)) this.forget(userId);
  }

  /** Whether forgotten users still have a part in what is popular; no answer is made before that is gone. */
  get isLettingGo(): boolean {
    return this.leaving.length > 0;
  }

  /** Lets go of that part; gives the ids of the items that no event places any more. */
  letGo(): Promise<string[]> {
    this.lettingGo ??= this.unlearnLeaving().finally(() => {
      this.lettingGo = undefined;
    });
    return this.lettingGo;
  }

  private async unlearnLeaving(): Promise<string[]> {
    const unplaced: number[] = [];
    for (let row = this.leaving[0]; row !== undefined; row = this.leaving[0]) {
      unplaced.push(...this.recommender.unlearn(await this.itemsOfRow(row)));
      this.leaving.shift();
    }
    if (unplaced.length > 0) this.cachedPreferences.clear();
    return unplaced.map((item) => this.items.ids[item] as string);
  }
}
