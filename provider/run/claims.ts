import { queued } from "./promises";
import type { BackendEntries, StackState } from "./stack-state";
import { isSameEntry, mayBeSameService, type StateEntry } from "./state-entry";
import { canonicalUrn, isOfPlugin, stackIdOf } from "./urn";

/** Object in a service. Without `service`, it matches objects of any service. */
export type ServiceObject = Pick<StateEntry, "type" | "id" | "service" | "instance" | "projectId">;

/**
 * Tracks which state entries reference an object in the service. Starts with the stored state of the stack, including
 * entries that wait for deletion, and follows what this run creates and releases. Entries of the backend's other stacks
 * count too, as far as their states can be read.
 */
export class Claims {
  #stored: Promise<EntriesByObject> | undefined;
  #stack: string | undefined;
  readonly #added = new EntriesByObject();
  readonly #released = new EntriesByObject();
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(
    private readonly state: Pick<StackState, "entries">,
    private readonly allStacks: () => Promise<BackendEntries> = async () => nothing,
  ) {}

  /** Adds the entry of a resource that this run has created or adopted. */
  add(entry: StateEntry): void {
    this.#added.add(entry);
  }

  /**
   * Releases an entry. If another entry references the same object, in this stack or another one, `work` gets that
   * entry and must keep the object. Entries of one object are released one after the other, so only the last release
   * deletes the object.
   */
  release<T>(entry: StateEntry, work: (user: StateEntry | undefined) => Promise<T>): Promise<T> {
    return queued(this.#queues, keyOf(entry), async () => {
      const result = await work(await this.#otherUser(entry));
      this.#released.add(entry);
      return result;
    });
  }

  /**
   * Returns the entries that reference an object, or did before this run, in all readable stacks. Call this only inside
   * `release`, which reads the state.
   */
  async entriesFor(object: ServiceObject): Promise<StateEntry[]> {
    return [...(await this.#ownEntriesFor(object)), ...(await this.#entriesOfOtherStacks(object))];
  }

  async #ownEntriesFor(object: ServiceObject): Promise<StateEntry[]> {
    const stored = (await this.#stored)?.of(object) ?? [];
    const added = this.#added
      .of(object)
      .filter((entry) => !stored.some((other) => isSameEntry(other, entry)));
    return [...stored, ...added];
  }

  /** Releases an entry that has no object. Returns whether the resource also has an entry of the other binding. */
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

  /** Whether an entry belongs to another stack. Call this only inside `release`. */
  isOfOtherStack({ urn }: StateEntry): boolean {
    return this.#stack !== undefined && stackIdOf(urn) !== this.#stack;
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
    if (user && isOfPlugin(user.urn) === isOfPlugin(own.urn)) return user;
    if (user) {
      // The other binding's process may have released its entry in the meantime. Only the state shows that.
      this.#stored = this.#read(own);
      const remaining = await this.#knownUser(own);
      if (remaining) return remaining;
    }
    const [userInOtherStack] = await this.#entriesOfOtherStacks(own);
    return userInOtherStack;
  }

  async #knownUser(own: StateEntry): Promise<StateEntry | undefined> {
    const others = await this.#ownEntriesFor(own);
    const isPendingDelete = others.find((entry) => isSameEntry(entry, own))?.isPendingDelete === true;
    // Remove one match per released entry: without tokens (state of older versions), two entries may look the same.
    for (const released of [own, ...this.#released.of(own)]) {
      const at = others.findIndex((entry) => isSameEntry(entry, released));
      if (at >= 0) others.splice(at, 1);
    }
    // If both bindings delete an entry of the object, each process would leave the deletion to the other, so these
    // entries are ignored.
    const isDeletedByOtherBinding = (entry: StateEntry) =>
      isPendingDelete && entry.isPendingDelete && isOfPlugin(entry.urn) !== isOfPlugin(own.urn);
    return others.find((entry) => !isDeletedByOtherBinding(entry));
  }

  /** Returns the entries of other stacks that reference an object. An unreadable state does not prevent a deletion. */
  async #entriesOfOtherStacks(object: ServiceObject): Promise<StateEntry[]> {
    await this.#stored;
    const { entries } = await this.allStacks();
    const { projectId } = object;
    return entries.filter(
      (entry) =>
        keyOf(entry) === keyOf(object) &&
        this.isOfOtherStack(entry) &&
        (projectId === undefined || entry.projectId === undefined || entry.projectId === projectId) &&
        mayBeSameService(entry, object),
    );
  }

  async #read(of: StateEntry): Promise<EntriesByObject> {
    try {
      const entries = await this.state.entries(of);
      // After a rename of the stack, the properties have its old name, and the state has the current one.
      this.#stack = stackIdOf((entries.find((entry) => isSameEntry(entry, of)) ?? of).urn);
      return new EntriesByObject(entries);
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

const nothing: BackendEntries = { entries: [], lineages: new Map(), unread: [] };

const keyOf = ({ type, id }: ServiceObject) => `${type} ${id}`;
