import type { FileHandle } from "node:fs/promises";
import type { Interactions } from "../../algorithms";
import { allWithin, largest, smallest } from "./numbers";
import { FormatError, type OpenSections, openSections } from "./sections";

/** Maximum number of pairs in memory at once, unless a single user has more. */
const maxPairs = 64 * 1024;

/** Receives the pairs of one user: the items, and the weight of each item. */
type Visit = (user: number, items: Uint32Array, weights: Float32Array) => void;

/** The user-item pairs in a model's file. They are read in parts, because they may not fit into memory. */
export class StoredPairs {
  private constructor(
    private readonly file: OpenSections,
    private readonly items: number,
    /** The pairs of user u are at the positions from start[u] to start[u + 1] - 1. */
    readonly start: Uint32Array,
  ) {}

  /** Finds the pairs and verifies their hashes. */
  static async open(file: OpenSections, users: number, items: number): Promise<StoredPairs> {
    const start = await file.read("interaction_starts", "uint32", [users + 1]);
    const entries = start[users] as number;
    await file.check("interaction_items", "uint32", [entries]);
    await file.check("interaction_weights", "float32", [entries]);
    if (start[0] !== 0) throw new FormatError("has interaction_starts that do not start at 0");
    for (let user = 0; user < users; user++)
      if ((start[user] as number) > (start[user + 1] as number))
        throw new FormatError("has interaction_starts that do not ascend");
    return new StoredPairs(file, items, start);
  }

  /** Calls `visit` for each user. The arrays are reused after each call. */
  async each(visit: Visit): Promise<void> {
    const { file, start } = this;
    const users = start.length - 1;
    let [index, weight] = [new Uint32Array(0), new Float32Array(0)];
    for (let from = 0; from < users; ) {
      const begin = start[from] as number;
      let to = from + 1;
      while (to < users && (start[to + 1] as number) - begin <= maxPairs) to++;
      const length = (start[to] as number) - begin;
      if (length > index.length) [index, weight] = [new Uint32Array(length), new Float32Array(length)];
      const [items, weights] = [index.subarray(0, length), weight.subarray(0, length)];
      await file.fill("interaction_items", begin, items);
      await file.fill("interaction_weights", begin, weights);
      this.checkBounds(items, weights);
      for (; from < to; from++) {
        const [first, end] = [(start[from] as number) - begin, (start[from + 1] as number) - begin];
        const own = items.subarray(first, end);
        for (let at = 1; at < own.length; at++)
          if ((own[at] as number) <= (own[at - 1] as number))
            throw new FormatError("has interaction_items that do not ascend within a user");
        visit(from, own, weights.subarray(first, end));
      }
    }
  }

  /** Reads all pairs. */
  async all(): Promise<Interactions> {
    const { start, items } = this;
    const users = start.length - 1;
    const entries = start[users] as number;
    const [index, weight] = [new Uint32Array(entries), new Float32Array(entries)];
    await this.each((user, own, weights) => {
      index.set(own, start[user]);
      weight.set(weights, start[user]);
    });
    return { users, items, start, index, weight };
  }

  private checkBounds(items: Uint32Array, weights: Float32Array): void {
    if (!allWithin(items, 0, this.items - 1))
      throw new FormatError("has interactions with items beyond the last item");
    if (!allWithin(weights, smallest, largest))
      throw new FormatError("has interaction_weights that are not positive finite numbers");
  }
}

/** Returns the items of a user, given the user's row at the training. Undefined if the user was removed. */
export async function decodeRow(file: FileHandle, row: number): Promise<number[] | undefined> {
  const { header, read, part } = await openSections(file);
  const rows = header.user_rows === true ? await read("user_rows", "uint32", [undefined]) : undefined;
  const at = rows ? rows.indexOf(row) : row;
  if (at < 0) return undefined;
  const [from = 0, to = 0] = await part("interaction_starts", at, at + 2);
  return [...(await part("interaction_items", from, to))];
}
