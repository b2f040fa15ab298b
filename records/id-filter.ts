/** 32-bit words per block. All bits of an id are in one block, which is one cache line. */
const blockWords = 16;

/** Bits that each id sets. */
const bitsPerId = 8;

const fnvOffset = 0x811c9dc5 | 0;
const fnvPrime = 0x01000193;

const minBits = 2 ** 16;
const maxBits = 2 ** 28;

/**
 * A set of ids in bounded memory (a blocked Bloom filter, 32 MB at most). It always finds an id that was added. It may
 * also report an id that was not added: about one in a million up to 8 million ids, more beyond that.
 */
export class IdFilter {
  readonly #words: Int32Array;
  readonly #lastBlock: number;
  #isEmpty = true;

  /** @param sourceBytes size of the source that the ids come from */
  constructor(sourceBytes: number) {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(1, sourceBytes * 2)));
    const bits = Math.min(maxBits, Math.max(minBits, wanted));
    this.#words = new Int32Array(bits / 32);
    this.#lastBlock = this.#words.length / blockWords - 1;
  }

  /** Adds ids, and returns whether any of them may have been in the set before. */
  add(ids: Iterable<string>): boolean {
    let found = false;
    for (const id of ids) if (this.#visit(id, true)) found = true;
    this.#isEmpty = false;
    return found;
  }

  /** Whether any of these ids may have been added. */
  hasAny(ids: Iterable<string>): boolean {
    if (this.#isEmpty) return false;
    for (const id of ids) if (this.#visit(id, false)) return true;
    return false;
  }

  #visit(id: string, isAdded: boolean): boolean {
    const words = this.#words;
    // FNV-1a selects the block. A second hash of the same characters selects the bits in it.
    let first = fnvOffset;
    let second = 0x9747b28c | 0;
    for (let at = 0; at < id.length; at++) {
      const code = id.charCodeAt(at);
      first = Math.imul(first ^ code, fnvPrime);
      second = Math.imul(second ^ code, 0x5bd1e995) ^ (second >>> 13);
    }
    const block = (mixed(first) & this.#lastBlock) * blockWords;
    let bits = mixed(second);
    let isKnown = true;
    for (let count = 0; count < bitsPerId; count++) {
      const at = block + ((bits >>> 5) & (blockWords - 1));
      const word = words[at] as number;
      const mask = 1 << (bits & 31);
      if ((word & mask) === 0) {
        if (!isAdded) return false;
        isKnown = false;
        words[at] = word | mask;
      }
      // A position in the block takes nine bits, so one hash gives three positions.
      bits = count % 3 === 2 ? mixed(bits ^ first) : bits >>> 9;
    }
    return isKnown;
  }
}

/** Returns a 32-bit hash of an id: FNV-1a, mixed. */
export function hashOf(id: string): number {
  let hash = fnvOffset;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), fnvPrime);
  return mixed(hash);
}

/** Mixes the bits of a hash with the finalizer of MurmurHash3. */
function mixed(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
