import type { StackState } from "./stack-state";
import { isSameEntry, mayBeSameService, type StateEntry } from "./state-entry";
import { canonicalUrn, isOfPlugin } from "./urn";

/** Something in a service that resources may hold. Without a service, things of any service count. */
export type ServiceObject = Pick<StateEntry, "type" | "id" | "service">;

/**
 * What the rows of a stack hold in the service: the rows of the state, with what the run has done since. Every row of the
 * state counts, including the rows that the engine has replaced and is to delete.
 */
export class Claims {
  #stored: Promise<EntriesByObject> | undefined;
  readonly #added = new EntriesByObject();
  readonly #released = new EntriesByObject();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(private readonly state: Pick<StackState, "entries">) {}

  /** A resource has created or adopted it in this run. */
  add(row: StateEntry): void {
    this.#added.add(row);
  }

  /**
   * Gives a row up. `work` gets the other row that holds the same thing, which then must stay; undefined where none does.
   * Rows of one thing give it up one after the other, so that the last one deletes it.
   */
  release<T>(row: StateEntry, work: (holder: StateEntry | undefined) => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(nameOf(row)) ?? Promise.resolve()).then(async () => {
      const result = await work(await this.#otherHolder(row));
      this.#released.add(row);
      return result;
    });
    this.#turns.set(
      nameOf(row),
      turn.catch(() => undefined),
    );
    return turn;
  }

  /** The rows that hold a thing or have given it up in this run; to be asked while a row is given up. */
  async entriesFor(thing: ServiceObject): Promise<StateEntry[]> {
    const stored = (await this.#stored)?.of(thing) ?? [];
    const added = this.#added.of(thing).filter((row) => !stored.some((other) => isSameEntry(other, row)));
    return [...stored, ...added];
  }

  /** Gives a row up that holds nothing in the service; tells whether another row stands for its resource now. */
  async isReplaced(row: StateEntry): Promise<boolean> {
    this.#stored ??= this.#read(row);
    const others = (await this.#stored)
      .all()
      .filter((other) => !isSameEntry(other, row) && !this.isReleased(other));
    this.#released.add(row);
    return others.some(({ urn }) => canonicalUrn(urn) === canonicalUrn(row.urn));
  }

  /** Whether a row was given up in this run. */
  isReleased(row: StateEntry): boolean {
    return this.#released.of(row).some((released) => isSameEntry(released, row));
  }

  async #otherHolder(own: StateEntry): Promise<StateEntry | undefined> {
    this.#stored ??= this.#read(own);
    const holder = await this.#holderBeside(own);
    if (!holder || isOfPlugin(holder.urn) === isOfPlugin(own.urn)) return holder;
    // The process of the other binding may have given it up since: only the state shows that.
    this.#stored = this.#read(own);
    return this.#holderBeside(own);
  }

  async #holderBeside(own: StateEntry): Promise<StateEntry | undefined> {
    const others = await this.entriesFor(own);
    const isLeaving = others.find((row) => isSameEntry(row, own))?.isPendingDelete === true;
    // One for each: older state has no tokens, so that two rows may look the same.
    for (const gone of [own, ...this.#released.of(own)]) {
      const at = others.findIndex((row) => isSameEntry(row, gone));
      if (at >= 0) others.splice(at, 1);
    }
    // If both rows leave, each by another binding, each process would leave the deletion to the other one.
    const leavesElsewhere = (row: StateEntry) =>
      isLeaving && row.isPendingDelete && isOfPlugin(row.urn) !== isOfPlugin(own.urn);
    return others.find((row) => !leavesElsewhere(row));
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

/** Rows by what they hold. */
class EntriesByObject {
  readonly #byThing = new Map<string, StateEntry[]>();

  constructor(rows: readonly StateEntry[] = []) {
    for (const row of rows) this.add(row);
  }

  add(row: StateEntry): void {
    const rows = this.#byThing.get(nameOf(row));
    if (rows) rows.push(row);
    else this.#byThing.set(nameOf(row), [row]);
  }

  all(): StateEntry[] {
    return [...this.#byThing.values()].flat();
  }

  of(thing: ServiceObject): readonly StateEntry[] {
    return (this.#byThing.get(nameOf(thing)) ?? []).filter((row) => mayBeSameService(row, thing));
  }
}

const nameOf = ({ type, id }: ServiceObject) => `${type} ${id}`;
