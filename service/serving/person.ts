import type { JsonMap } from "../../contract";
import type { Attributes, EventRule, Preferences, UserItem } from "../algorithms";
import type { Candidates } from "./cached-candidates";
import { type Choice, selectionOf } from "./choice";
import type { Deployed } from "./deployed";
import type { ServedModel } from "./served-model";
import type { UserEvents } from "./user-events";
import { type Visit, VisitedEvents, visitedItems } from "./visit";

/** Source of a person's preferences. */
export type Basis = "events" | "training" | "attributes" | "popularity";

/** A user, stored or hypothetical, who gets recommendations. */
export interface Person {
  readonly userId: string | undefined;
  /** Returns the person's items with their weights, numbered as in the given model. */
  eventsIn(served: ServedModel): UserItem[];
  /**
   * Returns the preferences for a model, and their source. They are null if only the popularity of items can be used.
   */
  preferencesIn(
    served: ServedModel,
  ): Promise<{ readonly preferences: Preferences | null; readonly basis: Basis }>;
  /** Returns the attributes of the person, or undefined if there is no record. */
  readAttributes(): Promise<Attributes | undefined>;
  /** Returns the best items by the generator, with their scores. */
  candidates(preferences: Preferences | null, wanted: number, choice?: Choice): Candidates;
  /** Returns the items that are not recommended to the person again. */
  had(): Iterable<number>;
}

/** Reads the events of a stored user. */
export async function readUser(deployed: Deployed, userId: string, isAddressed: boolean): Promise<Person> {
  // Read before the wait. If the model changes during the wait, the candidates are not cached.
  const { changes } = deployed.generator.recommender;
  return new StoredUser(deployed, userId, await deployed.events.read(userId, isAddressed), changes);
}

/** A user with stored events and attributes. Preferences and candidates are cached. */
class StoredUser implements Person {
  private attributes: Promise<Attributes | undefined> | undefined;

  constructor(
    private readonly deployed: Deployed,
    readonly userId: string,
    /**
     * The user's events. If they are null because the event dataset is deleted, the user's learned preferences are
     * used.
     */
    private readonly events: UserEvents | null,
    private readonly changes: number,
  ) {}

  eventsIn(served: ServedModel): UserItem[] {
    return this.events ? this.deployed.eventsIn(served, this.events) : [];
  }

  async preferencesIn(served: ServedModel) {
    const { events, userId } = this;
    const preferences = served.preferencesOf(userId, events && (() => this.eventsIn(served)), events?.stamp);
    if (preferences) return { preferences, basis: events ? ("events" as const) : ("training" as const) };
    return fromAttributes(served, await this.readAttributes());
  }

  readAttributes(): Promise<Attributes | undefined> {
    this.attributes ??= this.deployed.attributesOfUser(this.userId);
    return this.attributes;
  }

  candidates(preferences: Preferences | null, wanted: number, choice?: Choice): Candidates {
    const had = () => this.had();
    return this.deployed.generator.bestFor(this.userId, preferences, wanted, this.changes, had, choice);
  }

  had(): Iterable<number> {
    return this.events ? this.deployed.had(this.events) : [];
  }
}

/** Hypothetical changes to the events and attributes of a user. */
export interface Edits {
  /** The user to start from, or undefined for a new user. */
  readonly userId?: string | undefined;
  /** Attributes to use instead of those in the user's record. */
  readonly attributes?: JsonMap | undefined;
  readonly add: readonly { readonly itemId: string; readonly weight: number }[];
  readonly remove: readonly string[];
  /** Events of the current visit. They have the same effect as if they were stored. */
  readonly visit?: Visit | undefined;
  /** Whether the caller named the project. */
  readonly isAddressed?: boolean | undefined;
}

/** Id for reading the state of a deployment without a user. No stored user has it. */
export const nobody = "";

/** A person with events or attributes that are not stored. Nothing is cached. */
export class EditedPerson implements Person {
  readonly userId: string | undefined;

  private constructor(
    private readonly deployed: Deployed,
    private readonly edits: Edits,
    /** Stored events of the user; null if the event dataset is deleted, undefined for a new user. */
    private readonly events: UserEvents | null | undefined,
    readonly attributes: Attributes | undefined,
  ) {
    this.userId = edits.userId;
  }

  /** Reads the stored events and attributes of the user that the edits start from. */
  static async read(deployed: Deployed, edits: Edits): Promise<EditedPerson> {
    const { userId, visit, isAddressed = true } = edits;
    const read = () => deployed.events.read(userId ?? nobody, isAddressed);
    const current = userId === undefined && !visit ? undefined : await read();
    const events = visit ? new VisitedEvents(current ?? undefined, visitedItems(deployed, visit)) : current;
    const stored = () => (userId === undefined ? undefined : deployed.attributesOfUser(userId));
    return new EditedPerson(deployed, edits, events, edits.attributes ?? (await stored()));
  }

  eventsIn(served: ServedModel): UserItem[] {
    return this.deployed.eventsIn(served, this);
  }

  /** Returns the items and weights with the edits applied. Items that the generator does not know are left out. */
  weights(rule: EventRule | undefined): UserItem[] {
    const { items } = this.deployed;
    const pairs = new Map((this.events?.weights(rule) ?? []).map((pair) => [pair.item, pair]));
    for (const id of this.edits.remove) pairs.delete(items.find(id) ?? -1);
    const times = Array.from(pairs.values(), ({ time = 0 }) => time);
    let latest = times.length > 0 ? Math.max(...times) : Date.now();
    for (const { itemId, weight } of this.edits.add) {
      const item = items.find(itemId);
      if (item === undefined) continue;
      // The user would choose these items after all others, one after another.
      pairs.set(item, { item, weight: (pairs.get(item)?.weight ?? 0) + weight, time: ++latest });
    }
    return [...pairs.values()].filter(({ weight }) => weight > 0);
  }

  async preferencesIn(served: ServedModel) {
    const user = this.userId === undefined ? undefined : served.users.find(this.userId);
    const isUnchanged = this.edits.add.length === 0 && this.edits.remove.length === 0;
    const learned =
      this.events === null && isUnchanged && user !== undefined
        ? served.recommender.learnedPreferences(user)
        : null;
    if (learned) return { preferences: learned, basis: "training" as const };
    const preferences = served.recommender.preferencesFromItems(this.eventsIn(served), user);
    if (preferences) return { preferences, basis: "events" as const };
    return fromAttributes(served, this.attributes);
  }

  async readAttributes(): Promise<Attributes | undefined> {
    return this.attributes;
  }

  candidates(preferences: Preferences | null, wanted: number, choice?: Choice): Candidates {
    const { recommender } = this.deployed.generator;
    const had = this.had();
    for (const item of choice?.without ?? []) had.add(item);
    const items = recommender.candidates(preferences, wanted, had, choice && selectionOf(choice));
    return { items, scores: recommender.foundScores(items) };
  }

  had(): Set<number> {
    const { items } = this.deployed;
    const had = new Set(this.events ? this.deployed.had(this.events) : []);
    for (const id of this.edits.remove) had.delete(items.find(id) ?? -1);
    for (const { itemId } of this.edits.add) {
      const item = items.find(itemId);
      if (item !== undefined) had.add(item);
    }
    return had;
  }
}

function fromAttributes(served: ServedModel, attributes: Attributes | undefined) {
  const preferences = served.recommender.preferencesFromAttributes(attributes);
  return { preferences, basis: preferences ? ("attributes" as const) : ("popularity" as const) };
}
