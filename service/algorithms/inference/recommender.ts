// algorithms/inference/ asks a trained model: what to recommend, what users use, and which are alike.

import type { Attributes } from "../attributes";
import { DIVERSIFIED, diversified, penalized, penaltyOf } from "../exposure";
import type { Kernel } from "../kernel";
import { Neighbours } from "../neighbours";
import { UNPLACED } from "../placed";
import { topIndices } from "../top";
import { type AttributeVectors, attributeVectors } from "../training/cold-start";
import { type AttributePart, attributeParts, type Contribution, contributions } from "./contributions";
import { FoldIn, type UserItem } from "./fold-in";
import { roomFor } from "./room";
import { type ServableModel, stampOf } from "./servable";

/** What a model knows of a user: his vector, and the items of his that neighbours are found by. */
export interface Preferences {
  readonly vector: Float32Array;
  readonly chosen: ArrayLike<number>;
}

/** Ranks items by a trained model; items that came after training follow the model's own. */
export class Recommender {
  readonly model: ServableModel;
  /** Items of the model and those that came after. */
  items: number;
  private kernel: Kernel;
  private itemVectors: Float32Array;
  private vector: Float32Array;
  private out: Float32Array;
  private popularity: Float32Array;
  /** What the score of each item is multiplied by; null where popular ones do not stand back. */
  private penalties: Float32Array | null = null;
  private readonly unplaced: Set<number>;
  private readonly neighbours: Neighbours | null;
  private readonly userFromAttributes: AttributeVectors | null;
  private readonly itemFromAttributes: AttributeVectors | null;
  private readonly forgotten = new Set<number>();
  private folding: FoldIn | undefined;
  /** Counts what may change the scores of preferences: items that are placed anew, users that are forgotten. */
  changes = 0;

  /** The vectors are those of `placedVectors` where items or attributes came after training. */
  constructor(model: ServableModel, itemVectors: Float32Array = model.itemVectors) {
    const { pairs, every, itemUsers } = model.learned;
    const rule = model.neighbours && { ...model.neighbours, scale: model.neighbours.scale * every };
    this.neighbours = rule && pairs && new Neighbours(pairs, rule, itemUsers.slice());
    // The pairs are in memory once: where neighbours are found in them.
    const kept = this.neighbours && pairs && { ...pairs, ...this.neighbours.itemsOf };
    this.model = { ...model, learned: { ...model.learned, pairs: kept } };
    this.items = itemVectors.length / model.stride;
    ({
      kernel: this.kernel,
      itemVectors: this.itemVectors,
      vector: this.vector,
      out: this.out,
    } = roomFor(this.items, model.stride));
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

  /** The trained preferences of a user, null when nothing is known of him. */
  preferencesOf(user: number): Preferences | null {
    const { stride, users, userVectors, learned } = this.model;
    if (user < 0 || user >= users) return null;
    const vector = userVectors.subarray(user * stride, (user + 1) * stride);
    if (isZero(vector)) return null;
    const { start, index } = learned.pairs ?? { start: [], index: new Uint32Array(0) };
    return { vector, chosen: index.subarray(start[user], start[user + 1]) };
  }

  /** The trained preferences of a user, null when it does not come from events. */
  learnedPreferences(user: number): Preferences | null {
    return this.model.learned.stamps[user] ? this.preferencesOf(user) : null;
  }

  /** The preferences of a user from his attributes; null when they say nothing. */
  preferencesFromAttributes(attributes: Attributes | undefined): Preferences | null {
    const vector = this.userFromAttributes?.(attributes);
    return vector ? { vector, chosen: [] } : null;
  }

  /**
   * The preferences of a user from his events as they are: the trained one where they are those of the training, otherwise
   * solved from them; null when the model knows none of the items.
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
   * Places an item by its attributes, unless events placed it; one that is new has the next index.
   * Tells whether users with events on it are to be placed anew.
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

  /** Lets go of what a user's events taught about him; tells whether they taught anything. */
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
   * Lets go of the part that a forgotten user's items had in what is popular.
   * Gives those that no event places any more: nothing is known of them until they are placed by attributes.
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

  /** The best items for preferences, or the most popular ones where there is none, without those excluded. */
  top(preferences: Preferences | null, limit: number, exclude: Iterable<number> = []): number[] {
    const wanted = this.diversity > 0 ? Math.max(limit, DIVERSIFIED) : limit;
    return this.spread(this.candidates(preferences, wanted, exclude), limit);
  }

  /** How far items stand back that are like those above them. */
  get diversity(): number {
    return this.model.exposure?.diversity ?? 0;
  }

  /** The first of some items in an order, with as much diversity as the model is to give. */
  spread(order: readonly number[], limit: number): number[] {
    if (this.diversity === 0) return order.slice(0, limit);
    return diversified(order, limit, this.diversity, (item) => this.vectorOf(item));
  }

  /** What fits preferences best, or is most popular where there is none, in the order of the scores. */
  candidates(preferences: Preferences | null, limit: number, exclude: Iterable<number> = []): number[] {
    const scores = this.scores(preferences);
    for (const item of exclude) scores[item] = Number.NEGATIVE_INFINITY;
    return topIndices(scores, limit);
  }

  /** What the score of an item is, for each of some; the arithmetic of `top`. */
  scoresOf(items: readonly number[], preferences: Preferences | null): number[] {
    const scores = this.scores(preferences);
    return items.map((item) => scores[item] ?? Number.NEGATIVE_INFINITY);
  }

  /** What each item of a user adds to the scores of some items, where the preferences come from these items. */
  explain(items: readonly UserItem[], targets: readonly number[]): Contribution[] {
    this.folding ??= new FoldIn(this.model, this.itemVectors, this.popularity);
    const rows = targets.map((item) => this.rowOf(item));
    return contributions(this.folding, this.neighbours, items, { items: targets, rows });
  }

  /** What each attribute of a user adds to the scores of some items, where the preferences come from them. */
  explainAttributes(attributes: Attributes | undefined, targets: readonly number[]): AttributePart[] {
    const { userAttributes } = this.model;
    const rows = targets.map((item) => this.rowOf(item));
    return userAttributes ? attributeParts(userAttributes, attributes, rows) : [];
  }

  /** What the penalty of an item has made of each part of its score. */
  penaltyOn(item: number, score: number): number {
    const penalty = this.penalties?.[item] ?? 1;
    return score > 0 ? penalty : 1 / penalty;
  }

  /** The scores of items as the last call of `candidates` found them. */
  foundScores(items: readonly number[]): number[] {
    return items.map((item) => this.out[item]);
  }

  /** How many users had an item. */
  usersOf(item: number): number {
    return this.popularity[item] ?? 0;
  }

  /** The vector of an item; zero where nothing is known of it. */
  vectorOf(item: number): Float32Array {
    return item < this.items ? this.rowOf(item) : new Float32Array(this.model.stride);
  }

  /** Sorts candidates by this model's scores; those it does not know (out of range) keep their order at the end. */
  rerank(candidates: readonly number[], preferences: Preferences | null): number[] {
    const scores = this.scores(preferences);
    const scoreOf = (item: number) => scores[item] ?? Number.NEGATIVE_INFINITY;
    return candidates
      .map((item, place) => ({ item, place, score: scoreOf(item) }))
      .sort((a, b) => (a.score === b.score ? a.place - b.place : b.score - a.score))
      .map(({ item }) => item);
  }

  /** Scores of all items; the array is overwritten by the next call. */
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
    Object.assign(this, roomFor(items, this.model.stride));
    this.itemVectors.set(itemVectors);
    this.popularity = new Float32Array(this.out.length);
    this.popularity.set(popularity);
    this.setPenalties();
  }
}

function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}
