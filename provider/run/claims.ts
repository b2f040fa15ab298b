import { queued } from "./promises";
import type { StackState } from "./stack-state";
import { isSameEntry, mayBeSameService, type StateEntry } from "./state-entry";
import { canonicalUrn, isOfPlugin } from "./urn";

/** Object in a service. Without `service`, it matches objects of any service. */
export type ServiceObject = Pick<StateEntry, "type" | "id" | "service">;

/**
 * Counts the references of a stack's state entries to objects in the service. It starts with the stored state, including
 * entries that wait for deletion, and follows what this run creates and releases.
 */
export class Claims {
  #stored: Promise<EntriesByObject> | undefined;
  readonly #added = new EntriesByObject();
  readonly #released = new EntriesByObject();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(private readonly state: Pick<StackState, "entries">) {}

  /** Adds the entry of a resource that this run has created or adopted. */
  add(entry: StateEntry): void {
    this.#added.add(entry);
  }

  /**
   * Releases an entry. `work` gets another entry that references the same object, which must then stay, or undefined.
   * Entries of one object are released one after the other, so only the last one deletes it.
   */
  release<T>(entry: StateEntry, work: (user: StateEntry | undefined) => Promise<T>): Promise<T> {
    return queued(this.#queues, keyOf(entry), async () => {
      const result = await work(await this.#otherUser(entry));
      this.#released.add(entry);
      return result;
    });
  }

  /** Returns the entries that reference an object, or did before this run. Call it only from `release`, which reads the state. */
  async entriesFor(object: ServiceObject): Promise<StateEntry[]> {
    const stored = (await this.#stored)?.of(object) ?? [];
    const added = this.#added
      .of(object)
      .filter((entry) => !stored.some((other) => isSameEntry(other, entry)));
    return [...stored, ...added];
  }

  /** Releases an entry without an object. Returns whether the other binding has created an entry for the resource. */
  async isMovedToOtherBinding(entry: StateEntry): Promise<boolean> {
    this.#stored ??= this.#read(entry);
    const others = (await this.#stored)
      .all()
      .filter((other) => !isSameEntry(other, entry) && !this.isReleased(other));
    this.#released.add(entry);
    return others.some(
      ({ urn }) => canonicalUrn(urn) === canonicalUrn(entry.urn) && isOfPlugin(urn) !== isOfPlugin(entry.urn),
    );
  }

  /** Whether this run has released an entry. */
  isReleased(entry: StateEntry): boolean {
    return this.#released.of(entry).some((released) => isSameEntry(released, entry));
  }

  /** Whether this run has released a state entry that references the object. */
  hasReleased(object: ServiceObject): boolean {
    return this.#released.of(object).length > 0;
  }

  async #otherUser(own: StateEntry): Promise<StateEntry | undefined> {
    this.#stored ??= this.#read(own);
    const user = await this.#knownUser(own);
    if (!user || isOfPlugin(user.urn) === isOfPlugin(own.urn)) return user;
    // The process of the other binding may have released its entry since. Only the state shows that.
    this.#stored = this.#read(own);
    return this.#knownUser(own);
  }

  async #knownUser(own: StateEntry): Promise<StateEntry | undefined> {
    const others = await this.entriesFor(own);
    const isPendingDelete = others.find((entry) => isSameEntry(entry, own))?.isPendingDelete === true;
    // Remove one match per released entry: without tokens (state of older versions), two entries may look the same.
    for (const released of [own, ...this.#released.of(own)]) {
      const at = others.findIndex((entry) => isSameEntry(entry, released));
      if (at >= 0) others.splice(at, 1);
    }
    // If both bindings delete an entry of the object, each process would leave the deletion to the other.
    const isDeletedByOtherBinding = (entry: StateEntry) =>
      isPendingDelete && entry.isPendingDelete && isOfPlugin(entry.urn) !== isOfPlugin(own.urn);
    return others.find((entry) => !isDeletedByOtherBinding(entry));
  }

  async #read(of: StateEntry): Promise<EntriesByObject> {
    try {
      return new EntriesByObject(await this.state.entries(of));
    } catch (error) {
      this.#stored = undefined;
      throw error;
    }
  }
}

/** State entries, indexed by the object that they reference. */
class EntriesByObject {
  readonly #entries = new Map<string, StateEntry[]>();

  constructor(entries: readonly StateEntry[] = []) {
    for (const entry of entries) this.add(entry);
  }

  add(entry: StateEntry): void {
    const entries = this.#entries.get(keyOf(entry));
    if (entries) entries.push(entry);
    else this.#entries.set(keyOf(entry), [entry]);
  }

  all(): StateEntry[] {
    return [...this.#entries.values()].flat();
  }

  of(object: ServiceObject): readonly StateEntry[] {
    return (this.#entries.get(keyOf(object)) ?? []).filter((entry) => mayBeSameService(entry, object));
  }
}

const keyOf = ({ type, id }: ServiceObject) => `${type} ${id}`;
