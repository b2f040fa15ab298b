// algorithms/inference/ uses a trained model: to recommend items, to measure usage, and to group users.

import type { Attributes } from "../attributes";
import { DIVERSIFIED, diversified, penalized, penaltyOf } from "../exposure";
import { isZero } from "../linear-algebra";
import { Neighbours } from "../neighbours";
import { UNPLACED } from "../placed";
import { topAmong, topIndices } from "../top";
import { type AttributeVectors, attributeVectors } from "../training/cold-start";
import { type AttributePart, attributeParts, type Contribution, contributions } from "./contributions";
import { FoldIn, type UserItem } from "./fold-in";
import { ItemScores } from "./item-scores";
import { OrderPart } from "./order-part";
import type { Preferences } from "./preferences";
import { type Selection, weigh, weighed } from "./selection";
import { type ServableModel, stampOf } from "./servable";
import { Similarity } from "./similarity";

/** If a filter allows a smaller share of the items, computing only their scores is faster. */
const fewShare = 1 / 8;

/** Recommends items with a trained model. Items added later have higher indices than the model's own. */
export class Recommender {
  readonly model: ServableModel;
  private readonly itemScores: ItemScores;
  private popularity: Float32Array;
  /** Popularity penalty of each item, as a factor; null if the model has no popularity penalty. */
  private penalties: Float32Array | null = null;
  readonly neighbours: Neighbours | null;
  readonly order: OrderPart | null;
  private readonly userFromAttributes: AttributeVectors | null;
  private readonly itemFromAttributes: AttributeVectors | null;
  private readonly forgotten = new Set<number>();
  private folding: FoldIn | undefined;
  readonly similarity: Similarity;
  /** Number of changes so far that may affect scores, such as a new item vector or a forgotten user. */
  changes = 0;

  /** @param itemVectors the result of `placedVectors`, if items or attributes have changed since the training */
  constructor(model: ServableModel, itemVectors: Float32Array = model.itemVectors) {
    const { pairs, every, itemUsers } = model.learned;
    const rule = model.neighbours && { ...model.neighbours, scale: model.neighbours.scale * every };
    this.neighbours = rule && pairs && new Neighbours(pairs, rule, itemUsers.slice());
    this.order = OrderPart.of(model);
    // Uses the copy of the pairs in the kernel's memory, so the original can be freed.
    const kept = this.neighbours && pairs && { ...pairs, ...this.neighbours.itemsOf };
    this.model = { ...model, learned: { ...model.learned, pairs: kept } };
    this.itemScores = new ItemScores(itemVectors, model.stride, this.neighbours, this.order);
    this.similarity = new Similarity(this, this.itemScores);
    this.popularity = new Float32Array(this.itemScores.capacity);
    this.popularity.set(itemUsers);
    this.setPenalties();
    this.userFromAttributes = model.userAttributes && attributeVectors(model.userAttributes);
    this.itemFromAttributes = model.itemAttributes && attributeVectors(model.itemAttributes);
  }

  /** Number of items, including those added after the training. */
  get items(): number {
    return this.itemScores.items;
  }

  /** Returns the trained preferences of a user; null if the user has no vector. */
  preferencesOf(user: number): Preferences | null {
    const { stride, users, userVectors, learned } = this.model;
    if (user < 0 || user >= users) return null;
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    if (isZero(vector)) return null;
    const { start, index } = learned.pairs ?? { start: [], index: new Uint32Array(0) };
    const sequence = this.order?.learnedSequence(user);
    return { vector, chosen: index.subarray(start[user], start[user + 1]), ...(sequence && { sequence }) };
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
    return { vector, chosen, ...(this.order && { sequence: this.order.sequenceOf(known) }) };
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
    const vector = this.itemFromAttributes?.(attributes) ?? new Float32Array(this.model.stride);
    const row = this.itemScores.place(item, vector);
    this.similarity.placed(item);
    this.folding?.place(item, row);
    return item < this.model.items;
  }

  /** Removes a user's vector and influence on others. Returns whether that changed anything. */
  forget(user: number): boolean {
    const { stride, users, userVectors } = this.model;
    if (user >= users || this.forgotten.has(user)) return false;
    this.changes++;
    this.forgotten.add(user);
    userVectors.fill(0, user * stride, (user + 1) * stride);
    this.order?.forget(user);
    this.neighbours?.forget(user);
    return true;
  }

  /**
   * Subtracts a forgotten user from the popularity of the user's items, and from the table of their order.
   * @param steps the times of these items, in the unit of the model
   * @returns the items that have no users left. They have no vector until `place` is called with their attributes.
   */
  unlearn(items: readonly number[], steps: ArrayLike<number> = []): number[] {
    this.changes++;
    this.order?.unlearn(items, steps);
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
  candidates(
    preferences: Preferences | null,
    limit: number,
    exclude: Iterable<number> = [],
    { among, weights = [] }: Selection = {},
  ): number[] {
    const isPlain = weights.length === 0 && !this.penalties;
    const without = [...exclude];
    if (preferences && isPlain && this.itemScores.isSearchable(limit + without.length)) {
      const found = this.itemScores.highest(preferences, limit, without, among);
      // A search leaves out items without a vector, which are needed if few items pass a filter.
      if (!among || found.length === limit) return found;
    }
    const scores = this.scores(preferences, among);
    weigh(scores, weights);
    for (const item of without) scores[item] = Number.NEGATIVE_INFINITY;
    return among ? topAmong(scores, among, limit) : topIndices(scores, limit);
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
    this.folding ??= new FoldIn(this.model, this.itemScores.vectors, this.popularity);
    const rows = targets.map((item) => this.itemScores.rowOf(item));
    return contributions(this.folding, this, items, { items: targets, rows });
  }

  /**
   * Returns how much each attribute of a user adds to the scores of the target items. This is correct only for
   * preferences that were computed from these attributes.
   */
  explainAttributes(attributes: Attributes | undefined, targets: readonly number[]): AttributePart[] {
    const { userAttributes } = this.model;
    const rows = targets.map((item) => this.itemScores.rowOf(item));
    return userAttributes ? attributeParts(userAttributes, attributes, rows) : [];
  }

  /** Returns the factor that the popularity penalty applies to each part of an item's score. */
  penaltyOn(item: number, score: number): number {
    const penalty = this.penalties?.[item] ?? 1;
    return score > 0 ? penalty : 1 / penalty;
  }

  /** Returns the scores that the last call of `candidates` computed for some items. */
  foundScores(items: readonly number[]): number[] {
    const scores = this.itemScores.memory();
    return items.map((item) => scores[item]);
  }

  /** Returns the number of users of an item. */
  usersOf(item: number): number {
    return this.popularity[item] ?? 0;
  }

  /** Returns the vector of an item; a zero vector if the model does not know the item. */
  vectorOf(item: number): Float32Array {
    return item < this.items ? this.itemScores.rowOf(item) : new Float32Array(this.model.stride);
  }

  /**
   * Sorts candidates by this model's scores. Candidates that the model does not know come last and keep their order.
   * @param factors factor for the score of each candidate, applied as in `weigh`
   */
  rerank(
    candidates: readonly number[],
    preferences: Preferences | null,
    factors: readonly number[] = [],
  ): number[] {
    const scores = this.scores(preferences);
    const scoreOf = (item: number) => scores[item] ?? Number.NEGATIVE_INFINITY;
    return candidates
      .map((item, place) => ({ item, place, score: weighed(scoreOf(item), factors[place]) }))
      .sort((a, b) => (a.score === b.score ? a.place - b.place : b.score - a.score))
      .map(({ item }) => item);
  }

  /**
   * Returns the scores of all items, or at least of some, ascending. Then the others may have any value. The next call
   * overwrites the array.
   */
  scores(preferences: Preferences | null, among?: Uint32Array): Float32Array {
    if (!preferences) {
      const scores = this.itemScores.memory();
      scores.set(this.popularity.subarray(0, this.items));
      return scores;
    }
    if (among && among.length < this.items * fewShare) return this.scoresAmong(preferences, among);
    const scores = this.itemScores.all(preferences);
    if (this.penalties)
      for (let item = 0; item < scores.length; item++)
        scores[item] = penalized(scores[item], this.penalties[item]);
    for (const item of this.itemScores.unplaced) scores[item] = UNPLACED;
    return scores;
  }

  /** Returns the scores of some items, which are ascending. All other scores are arbitrary. */
  private scoresAmong(preferences: Preferences, items: Uint32Array): Float32Array {
    const scores = this.itemScores.some(preferences, items);
    const { penalties } = this;
    if (penalties) for (const item of items) scores[item] = penalized(scores[item], penalties[item]);
    for (const item of this.itemScores.unplaced) scores[item] = UNPLACED;
    return scores;
  }

  private setPenalties(): void {
    const by = this.model.exposure?.popularityPenalty ?? 0;
    this.penalties = by > 0 ? this.popularity.map((users) => penaltyOf(users, by)) : null;
  }

  private folded(items: readonly UserItem[]): Float32Array | null {
    this.folding ??= new FoldIn(this.model, this.itemScores.vectors, this.popularity);
    return this.folding.solve(items);
  }

  private wasTrainedOn(user: number, pairs: readonly UserItem[]): boolean {
    const stamp = this.model.learned.stamps[user];
    if (!stamp) return false;
    const items = pairs.map(({ item }) => item);
    const weights = pairs.map(({ weight }) => weight);
    return stamp === stampOf(items, weights);
  }

  private extend(items: number): void {
    const { popularity } = this;
    this.itemScores.extend(items);
    if (this.itemScores.capacity === popularity.length) return;
    this.popularity = new Float32Array(this.itemScores.capacity);
    this.popularity.set(popularity);
    this.setPenalties();
  }
}
