import { type Interactions, selectUsers, transpose } from "../interactions";
import { arrayBytes, Kernel } from "../kernel";
import { createRandom, DEFAULT_SEED, sample } from "../random";
import { type FactorParameters, type Factors, ridgeOf, scratchLength } from "./ials";
import { boundsOf } from "./parts";
import type { Team } from "./team";

/** Minimum number of users of each item in the sample. An item with fewer users keeps all of them. */
const MIN_ITEM_USERS = 5;
/** Number of pairs to fold in at once, which limits the memory. */
const FOLDED_PAIRS = 1_000_000;

/**
 * Draws a sample of users to learn the item vectors from. Adds users for items that have too few in the sample. Returns
 * null if all users are needed.
 */
export function usersToLearnFrom(of: Interactions, maxPairs: number): Uint32Array | null {
  const pairs = of.index.length;
  if (pairs <= maxPairs) return null;
  const drawn = new Uint8Array(of.users);
  for (const user of sample(createRandom(DEFAULT_SEED), of.users, Math.ceil((of.users * maxPairs) / pairs)))
    drawn[user] = 1;
  const { start, index } = transpose(of);
  for (let item = 0; item < of.items; item++) {
    const users = index.subarray(start[item], start[item + 1]);
    let found = users.reduce((sum, user) => sum + drawn[user], 0);
    for (let at = 0; at < users.length && found < MIN_ITEM_USERS; at++) {
      const user = users[at];
      found += 1 - drawn[user];
      drawn[user] = 1;
    }
  }
  const users = Uint32Array.from(drawn.keys()).filter((user) => drawn[user] === 1);
  return users.length < of.users ? users : null;
}

/** Computes the vectors of all users from item vectors whose Gram matrix is diagonal. */
export function foldInAll(
  of: Interactions,
  { stride, itemVectors }: Factors,
  parameters: FactorParameters,
  team: Team,
): Float32Array {
  const { users, start } = of;
  const chunks = chunksOf(of);
  const most = Math.max(...chunks.map(({ length }) => length));
  const entries = Math.max(...chunks.map((rows) => entriesOf(start, rows)));
  const scratch = scratchLength(stride);
  const lengths = [itemVectors.length, stride, most + 1, entries, entries, most * stride, most];
  const bytes = lengths.reduce((sum, length) => sum + arrayBytes(length), team.size * arrayBytes(scratch));
  const kernel = new Kernel(bytes, { shared: true });
  const fixed = kernel.floats(itemVectors.length);
  fixed.set(itemVectors);
  const base = kernel.floats(stride);
  const active = baseOf(base, itemVectors, parameters.alpha);
  const chunk = {
    start: kernel.integers(most + 1),
    index: kernel.integers(entries),
    weight: kernel.floats(entries),
    vectors: kernel.floats(most * stride),
    ridge: kernel.floats(most),
  };
  const threads = Array.from({ length: team.size }, () => kernel.floats(scratch));
  const vectors = new Float32Array(users * stride);
  for (const rows of chunks) {
    const some = selectUsers(of, rows);
    chunk.start.set(some.start);
    chunk.index.set(some.index);
    chunk.weight.set(some.weight);
    for (let row = 0; row < rows.length; row++) {
      let total = 0;
      for (let at = some.start[row]; at < some.start[row + 1]; at++) total += some.weight[at];
      chunk.ridge[row] = ridgeOf(parameters, total, active);
    }
    const bounds = boundsOf(some);
    team.run({
      kind: "solve",
      memory: kernel.memory,
      stride,
      scratch: threads,
      parts: bounds.length - 1,
      size: some.index.length * stride * stride,
      solved: { ...chunk, rows: rows.length },
      fixed,
      base,
      // Not used, because an exact solution does not start from earlier vectors.
      matrix: base,
      bounds,
      steps: 0,
    });
    vectors.set(chunk.vectors.subarray(0, rows.length * stride), rows[0] * stride);
  }
  return vectors;
}

/** Writes the weighted diagonal of the Gram matrix to `base`. Returns the number of items with a vector. */
function baseOf(base: Float32Array, itemVectors: Float32Array, alpha: number): number {
  const squares = new Float64Array(base.length);
  let active = 0;
  for (let from = 0; from < itemVectors.length; from += base.length) {
    let isActive = false;
    for (let k = 0; k < base.length; k++) {
      const value = itemVectors[from + k];
      if (value !== 0) isActive = true;
      squares[k] += value * value;
    }
    if (isActive) active++;
  }
  base.set(squares.map((sum) => alpha * sum));
  return active;
}

/** Divides the users, in order, into chunks of about `FOLDED_PAIRS` pairs. */
function chunksOf({ users, start }: Interactions): Uint32Array[] {
  const chunks: Uint32Array[] = [];
  for (let from = 0, to = 0; from < users; from = to) {
    const end = start[from] + FOLDED_PAIRS;
    for (to = from + 1; to < users && start[to + 1] <= end; ) to++;
    chunks.push(Uint32Array.from({ length: to - from }, (_, at) => from + at));
  }
  return chunks;
}

function entriesOf(start: Uint32Array, rows: Uint32Array): number {
  return start[rows[rows.length - 1] + 1] - start[rows[0]];
}
