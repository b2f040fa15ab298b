// algorithms/inference/ uses a trained model: to recommend items, to measure usage, and to group users.

import type { Attributes } from "../attributes";
import { DIVERSIFIED, diversified, penalized, penaltyOf } from "../exposure";
import type { Kernel } from "../kernel";
import { Neighbours } from "../neighbours";
import { UNPLACED } from "../placed";
import { topIndices } from "../top";
import { type AttributeVectors, attributeVectors } from "../training/cold-start";
import { type AttributePart, attributeParts, type Contribution, contributions } from "./contributions";
import { FoldIn, type UserItem } from "./fold-in";
import { allocateScores } from "./score-memory";
import { type ServableModel, stampOf } from "./servable";

/** A user's vector, and the user's items, by which similar users are found. */
export interface Preferences {
  readonly vector: Float32Array;
  readonly chosen: ArrayLike<number>;
}

/** Recommends items with a trained model. Items added later have higher indices than the model's own. */
export class Recommender {
  readonly model: ServableModel;
  /** Number of items, including those added after the training. */
  items: number;
  private kernel: Kernel;
  private itemVectors: Float32Array;
  private vector: Float32Array;
  private out: Float32Array;
  private popularity: Float32Array;
  /** Popularity penalty of each item, as a factor; null if the model has no popularity penalty. */
  private penalties: Float32Array | null = null;
  private readonly unplaced: Set<number>;
  private readonly neighbours: Neighbours | null;
  private readonly userFromAttributes: AttributeVectors | null;
  private readonly itemFromAttributes: AttributeVectors | null;
  private readonly forgotten = new Set<number>();
  private folding: FoldIn | undefined;
  /** Number of changes so far that may affect scores, such as a new item vector or a forgotten user. */
  changes = 0;

  /** @param itemVectors the result of `placedVectors`, if items or attributes have changed since the training */
  constructor(model: ServableModel, itemVectors: Float32Array = model.itemVectors) {
    const { pairs, every, itemUsers } = model.learned;
    const rule = model.neighbours && { ...model.neighbours, scale: model.neighbours.scale * every };
    this.neighbours = rule && pairs && new Neighbours(pairs, rule, itemUsers.slice());
    // Uses the copy of the pairs in the kernel's memory, so the original can be freed.
    const kept = this.neighbours && pairs && { ...pairs, ...this.neighbours.itemsOf };
    this.model = { ...model, learned: { ...model.learned, pairs: kept } };
    this.items = itemVectors.length / model.stride;
    ({
      kernel: this.kernel,
      itemVectors: this.itemVectors,
      vector: this.vector,
      out: this.out,
    } = allocateScores(this.items, model.stride));
    this.itemVectors.set(itemVectors);
    this.popularity = new Float32Array(this.out.length);
    this.popularity.set(itemUsers);
    this.setPenalties();
    this.unplaced = new Set(
      Array.from({ length: this.items }, (_, item) => item).filter((item) => isZero(this.rowOf(item))),
    );
    this.userFromAttributes = model.userAttributes && attributeVectors(model.userAttributes);
    this.itemFromAttributes = model.itemAttributes && attributeVectors(model.itemAttributes);
  }

  /** Returns the trained preferences of a user; null if the user has no vector. */
  preferencesOf(user: number): Preferences | null {
    const { stride, users, userVectors, learned } = this.model;
    if (user < 0 || user >= users) return null;
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    if (isZero(vector)) return null;
    const { start, index } = learned.pairs ?? { start: [], index: new Uint32Array(0) };
    return { vector, chosen: index.subarray(start[user], start[user + 1]) };
  }

  /** Returns the trained preferences of a user; null if they do not come from events. */
  learnedPreferences(user: number): Preferences | null {
    return this.model.learned.stamps[user] ? this.preferencesOf(user) : null;
  }

  /** Returns preferences from attributes; null if the model knows none of them. */
  preferencesFromAttributes(attributes: Attributes | undefined): Preferences | null {
    const vector = this.userFromAttributes?.(attributes);
    return vector ? { vector, chosen: [] } : null;
  }

  /**
   * Returns preferences from a user's current events. If the user was trained on the same events, the trained vector is
   * used, otherwise fold-in computes one. Returns null if the model knows none of the items.
   */
  preferencesFromItems(items: readonly UserItem[], user?: number): Preferences | null {
    const known = items.filter(({ item }) => item < this.model.items);
    const vector =
      user !== undefined && !this.forgotten.has(user) && this.wasTrainedOn(user, known)
        ? this.preferencesOf(user)?.vector
        : this.folded(known);
    if (!vector) return null;
    const chosen = this.neighbours ? known.filter(({ weight }) => weight > 0).map(({ item }) => item) : [];
    return { vector, chosen };
  }

  /**
   * Computes the vector of an item from its attributes, unless the item has events. An index after the last item adds
   * an item.
   * @returns whether the vectors of users with events on the item must be computed again
   */
  place(item: number, attributes: Attributes | undefined): boolean {
    this.changes++;
    if (item >= this.items) this.extend(item + 1);
    if (this.popularity[item] > 0) return false;
    const row = this.rowOf(item);
    row.set(this.itemFromAttributes?.(attributes) ?? new Float32Array(row.length));
    if (isZero(row)) this.unplaced.add(item);
    else this.unplaced.delete(item);
    this.folding?.place(item, row);
    return item < this.model.items;
  }

  /** Removes a user's vector and influence on other users. Returns whether that changed anything. */
  forget(user: number): boolean {
    const { stride, users, userVectors } = this.model;
    if (user >= users || this.forgotten.has(user)) return false;
    this.changes++;
    this.forgotten.add(user);
    userVectors.fill(0, user * stride, (user + 1) * stride);
    this.neighbours?.forget(user);
    return true;
  }

  /**
   * Subtracts a forgotten user from the popularity of the user's items.
   * @returns the items that have no users left. They have no vector until `place` is called with their attributes.
   */
  unlearn(items: readonly number[]): number[] {
    this.changes++;
    for (const item of items) this.popularity[item] -= 1;
    const unplaced = items.filter((item) => this.popularity[item] === 0);
    for (const item of unplaced) this.place(item, undefined);
    this.setPenalties();
    this.folding = undefined;
    return unplaced;
  }

  /** Returns the items to show, best first. Without preferences, these are the most popular items. */
  top(preferences: Preferences | null, limit: number, exclude: Iterable<number> = []): number[] {
    const wanted = this.diversity > 0 ? Math.max(limit, DIVERSIFIED) : limit;
    return this.spread(this.candidates(preferences, wanted, exclude), limit);
  }

  /** The model's diversity setting. */
  get diversity(): number {
    return this.model.exposure?.diversity ?? 0;
  }

  /** Reorders items by the model's diversity setting, and returns the first `limit` items. */
  spread(order: readonly number[], limit: number): number[] {
    if (this.diversity === 0) return order.slice(0, limit);
    return diversified(order, limit, this.diversity, (item) => this.vectorOf(item));
  }

  /** Returns the items with the highest scores. Without preferences, these are the most popular items. */
  candidates(preferences: Preferences | null, limit: number, exclude: Iterable<number> = []): number[] {
    const scores = this.scores(preferences);
    for (const item of exclude) scores[item] = Number.NEGATIVE_INFINITY;
    return topIndices(scores, limit);
  }

  /** Returns the scores of some items, computed as in `top`. */
  scoresOf(items: readonly number[], preferences: Preferences | null): number[] {
    const scores = this.scores(preferences);
    return items.map((item) => scores[item] ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * Returns how much each of a user's items adds to the scores of the target items. This is correct only for
   * preferences that were computed from these items.
   */
  explain(items: readonly UserItem[], targets: readonly number[]): Contribution[] {
    this.folding ??= new FoldIn(this.model, this.itemVectors, this.popularity);
    const rows = targets.map((item) => this.rowOf(item));
    return contributions(this.folding, this.neighbours, items, { items: targets, rows });
  }

  /**
   * Returns how much each attribute of a user adds to the scores of the target items. This is correct only for
   * preferences that were computed from these attributes.
   */
  explainAttributes(attributes: Attributes | undefined, targets: readonly number[]): AttributePart[] {
    const { userAttributes } = this.model;
    const rows = targets.map((item) => this.rowOf(item));
    return userAttributes ? attributeParts(userAttributes, attributes, rows) : [];
  }

  /** Returns the factor that the popularity penalty applies to each part of an item's score. */
  penaltyOn(item: number, score: number): number {
    const penalty = this.penalties?.[item] ?? 1;
    return score > 0 ? penalty : 1 / penalty;
  }

  /** Returns the scores that the last call of `candidates` computed for some items. */
  foundScores(items: readonly number[]): number[] {
    return items.map((item) => this.out[item]);
  }

  /** Returns the number of users of an item. */
  usersOf(item: number): number {
    return this.popularity[item] ?? 0;
  }

  /** Returns the vector of an item; a zero vector if the model does not know the item. */
  vectorOf(item: number): Float32Array {
    return item < this.items ? this.rowOf(item) : new Float32Array(this.model.stride);
  }

  /**
   * Sorts candidates by this model's scores. Candidates that the model does not know come last and keep their order.
   */
  rerank(candidates: readonly number[], preferences: Preferences | null): number[] {
    const scores = this.scores(preferences);
    const scoreOf = (item: number) => scores[item] ?? Number.NEGATIVE_INFINITY;
    return candidates
      .map((item, place) => ({ item, place, score: scoreOf(item) }))
      .sort((a, b) => (a.score === b.score ? a.place - b.place : b.score - a.score))
      .map(({ item }) => item);
  }

  /** Returns the scores of all items. The next call overwrites the array. */
  private scores(preferences: Preferences | null): Float32Array {
    const scores = this.out.subarray(0, this.items);
    if (!preferences) {
      scores.set(this.popularity.subarray(0, this.items));
      return scores;
    }
    this.vector.set(preferences.vector);
    const { itemVectors, vector: placed, out } = this;
    this.kernel.run.scores(
      itemVectors.byteOffset,
      this.items,
      this.model.stride,
      placed.byteOffset,
      out.byteOffset,
    );
    if (preferences.chosen.length > 0) this.neighbours?.add(scores, preferences.chosen);
    if (this.penalties)
      for (let item = 0; item < scores.length; item++)
        scores[item] = penalized(scores[item], this.penalties[item]);
    for (const item of this.unplaced) scores[item] = UNPLACED;
    return scores;
  }

  private setPenalties(): void {
    const by = this.model.exposure?.popularityPenalty ?? 0;
    this.penalties = by > 0 ? this.popularity.map((users) => penaltyOf(users, by)) : null;
  }

  private folded(items: readonly UserItem[]): Float32Array | null {
    this.folding ??= new FoldIn(this.model, this.itemVectors, this.popularity);
    return this.folding.solve(items);
  }

  private wasTrainedOn(user: number, pairs: readonly UserItem[]): boolean {
    const stamp = this.model.learned.stamps[user];
    if (!stamp) return false;
    const items = pairs.map(({ item }) => item);
    const weights = pairs.map(({ weight }) => weight);
    return stamp === stampOf(items, weights);
  }

  private rowOf(item: number): Float32Array {
    const { stride } = this.model;
    return this.itemVectors.subarray(item * stride, (item + 1) * stride);
  }

  private extend(items: number): void {
    for (let item = this.items; item < items; item++) this.unplaced.add(item);
    this.items = items;
    if (items <= this.out.length) return;
    const { itemVectors, popularity } = this;
    Object.assign(this, allocateScores(items, this.model.stride));
    this.itemVectors.set(itemVectors);
    this.popularity = new Float32Array(this.out.length);
    this.popularity.set(popularity);
    this.setPenalties();
  }
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
