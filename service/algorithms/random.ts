/** A random number generator with a seed. The same seed gives the same sequence on every machine. */
export interface Random {
  /** Returns a number from 0 up to, not including, 1. */
  next(): number;
  /** Returns an integer from 0 up to, not including, `bound`. */
  below(bound: number): number;
  /** Returns a normally distributed number with mean 0 and standard deviation 1. */
  normal(): number;
}

/** Default seed of hold-outs and samples. It is fixed, so the same data gives the same model. */
export const DEFAULT_SEED = 20_240_229;

/** Creates a random number generator (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    below: (bound) => Math.floor(next() * bound),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** Draws `count` different integers below `bound`. Returns them in ascending order. */
export function sample(random: Random, bound: number, count: number): Uint32Array {
  const pool = Uint32Array.from({ length: bound }, (_, index) => index);
  const drawn = Math.min(bound, count);
  for (let at = 0; at < drawn; at++) {
    const other = at + random.below(bound - at);
    const swapped = pool[at];
    pool[at] = pool[other];
    pool[other] = swapped;
  }
  return pool.slice(0, drawn).sort();
}
