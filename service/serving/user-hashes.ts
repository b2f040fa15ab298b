import type { HashedUsers } from "../store/forgotten";

/** Number of users that are hashed before other work gets a turn. A hash takes 2 µs. */
const atOnce = 2000;

/** Finds users by their keyed hashes. All users are hashed once, in the first search. */
export class UserHashes {
  private numbers: Float64Array | undefined;

  /** @param users how many of the ids to search, starting with the first */
  constructor(
    private readonly ids: readonly string[],
    private readonly users: number,
  ) {}

  /** Returns the ids of the users who belong to a set of hashed users. */
  async find(wanted: HashedUsers): Promise<string[]> {
    if (wanted.size === 0) return [];
    const { hashOf, hashes } = wanted.lookup;
    this.numbers ??= await this.hashAll(hashOf);
    const found: string[] = [];
    for (const hash of hashes) {
      const number = numberOf(hash);
      for (let at = this.numbers.indexOf(number); at >= 0; at = this.numbers.indexOf(number, at + 1)) {
        const id = this.ids[at] as string;
        if (hashOf(id) === hash) found.push(id);
      }
    }
    return found;
  }

  private async hashAll(hashOf: (id: string) => string): Promise<Float64Array> {
    const numbers = new Float64Array(this.users);
    for (let at = 0; at < this.users; at++) {
      numbers[at] = numberOf(hashOf(this.ids[at] as string));
      if (at % atOnce === atOnce - 1) await new Promise(setImmediate);
    }
    return numbers;
  }
}

/** Returns the first 48 bits of a hash, to keep eight bytes per user instead of the whole hash. */
function numberOf(hash: string): number {
  return Buffer.from(hash.slice(0, 8), "base64url").readUIntBE(0, 6);
}
