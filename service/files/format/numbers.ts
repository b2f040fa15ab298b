/** Smallest positive 32-bit floating-point number. */
export const smallest = 2 ** -149;

/** Largest finite 32-bit floating-point number. */
export const largest = (2 - 2 ** -23) * 2 ** 127;

/** Whether all values are numbers from `least` to `most`. Uses a loop, because `every` takes ten times as long. */
export function allWithin(values: Float32Array | Uint32Array, least: number, most: number): boolean {
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    if (!(value >= least && value <= most)) return false;
  }
  return true;
}
