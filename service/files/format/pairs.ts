import type { FileHandle } from "node:fs/promises";
import type { Interactions, OrderRule } from "../../algorithms";
import { allWithin, largest, smallest } from "./numbers";
import { FormatError, type OpenSections, openSections } from "./sections";

/** Maximum number of pairs in memory at once, unless a single user has more. */
const maxPairs = 64 * 1024;

/**
 * Receives the pairs of one user: the items, the weight of each item, and its time in the unit of the model if the model
 * uses the order of events.
 */
type Visit = (user: number, items: Uint32Array, weights: Float32Array, steps?: Uint32Array) => void;

/** The items of a user in a model's file, and their times in the unit of the model, if the file has times. */
export interface StoredRow {
  readonly items: readonly number[];
  readonly steps: readonly number[];
}

/** Which pairs a file contains. */
interface PairsOptions {
  readonly users: number;
  readonly items: number;
  /** Whether the file has the time of each pair. */
  readonly withTimes: boolean;
}

/** The user-item pairs in a model's file. They are read in parts, because they may not fit into memory. */
export class StoredPairs {
  private constructor(
    private readonly file: OpenSections,
    private readonly items: number,
    private readonly withTimes: boolean,
    /** The pairs of user u are at the positions from start[u] to start[u + 1] - 1. */
    readonly start: Uint32Array,
  ) {}

  /** Finds the pairs and verifies their hashes. */
  static async open(file: OpenSections, { users, items, withTimes }: PairsOptions): Promise<StoredPairs> {
    const start = await file.read("interaction_starts", "uint32", [users + 1]);
    const entries = start[users] as number;
    await file.check("interaction_items", "uint32", [entries]);
    await file.check("interaction_weights", "float32", [entries]);
    if (withTimes) await file.check("interaction_times", "uint32", [entries]);
    if (start[0] !== 0) throw new FormatError("has interaction_starts that do not start at 0");
    for (let user = 0; user < users; user++)
      if ((start[user] as number) > (start[user + 1] as number))
        throw new FormatError("has interaction_starts that do not ascend");
    return new StoredPairs(file, items, withTimes, start);
  }

  /** Calls `visit` for each user. The arrays are reused after each call. */
  async each(visit: Visit): Promise<void> {
    const { file, start } = this;
    const users = start.length - 1;
    let [index, weight, time] = [new Uint32Array(0), new Float32Array(0), new Uint32Array(0)];
    for (let from = 0; from < users; ) {
      const begin = start[from] as number;
      let to = from + 1;
      while (to < users && (start[to + 1] as number) - begin <= maxPairs) to++;
      const length = (start[to] as number) - begin;
      if (length > index.length) [index, weight] = [new Uint32Array(length), new Float32Array(length)];
      if (this.withTimes && length > time.length) time = new Uint32Array(length);
      const [items, weights] = [index.subarray(0, length), weight.subarray(0, length)];
      await file.fill("interaction_items", begin, items);
      await file.fill("interaction_weights", begin, weights);
      if (this.withTimes) await file.fill("interaction_times", begin, time.subarray(0, length));
      this.checkBounds(items, weights);
      for (; from < to; from++) {
        const [first, end] = [(start[from] as number) - begin, (start[from + 1] as number) - begin];
        const own = items.subarray(first, end);
        for (let at = 1; at < own.length; at++)
          if ((own[at] as number) <= (own[at - 1] as number))
            throw new FormatError("has interaction_items that do not ascend within a user");
        visit(
          from,
          own,
          weights.subarray(first, end),
          this.withTimes ? time.subarray(first, end) : undefined,
        );
      }
    }
  }

  /** Reads all pairs, with their times in milliseconds if there is a rule for the order of events. */
  async all(rule?: Pick<OrderRule, "firstTime" | "timeStep">): Promise<Interactions> {
    const { start, items } = this;
    const users = start.length - 1;
    const entries = start[users] as number;
    const [index, weight] = [new Uint32Array(entries), new Float32Array(entries)];
    const time = rule && new Float64Array(entries);
    await this.each((user, own, weights, steps) => {
      index.set(own, start[user]);
      weight.set(weights, start[user]);
      steps?.forEach((step, at) => {
        if (rule && time) time[(start[user] as number) + at] = rule.firstTime + step * rule.timeStep;
      });
    });
    return { users, items, start, index, weight, ...(time && { time }) };
  }

  private checkBounds(items: Uint32Array, weights: Float32Array): void {
    if (!allWithin(items, 0, this.items - 1))
      throw new FormatError("has interactions with items beyond the last item");
    if (!allWithin(weights, smallest, largest))
      throw new FormatError("has interaction_weights that are not positive finite numbers");
  }
}

/** Returns the items of a user and their times, given the user's row at the training. Undefined if the user was removed. */
export async function decodeRow(file: FileHandle, row: number): Promise<StoredRow | undefined> {
  const { header, read, part } = await openSections(file);
  const rows = header.user_rows === true ? await read("user_rows", "uint32", [undefined]) : undefined;
  const at = rows ? rows.indexOf(row) : row;
  if (at < 0) return undefined;
  const [from = 0, to = 0] = await part("interaction_starts", at, at + 2);
  // The header `order` has no meaning before version 5.
  const hasOrder = Number(header.version) > 4 && header.order !== undefined;
  return {
    items: [...(await part("interaction_items", from, to))],
    steps: hasOrder ? [...(await part("interaction_times", from, to))] : [],
  };
}
