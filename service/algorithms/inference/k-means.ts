import type { Random } from "../random";

/** Points as rows of `stride` floats. */
export interface Points {
  readonly count: number;
  readonly stride: number;
  readonly values: Float32Array;
}

/** Points divided into k groups. */
export interface Partition {
  readonly k: number;
  /** Group of each point. */
  readonly group: Uint32Array;
  readonly centers: Float32Array;
  /** Sum of the squared distances of all points to their centers. */
  readonly spread: number;
}

const MAX_ROUNDS = 50;

/** Divides points into k groups by k-means, initialized by k-means++. */
export function kMeans(points: Points, k: number, random: Random): Partition {
  const centers = firstCenters(points, k, random);
  const group = new Uint32Array(points.count);
  let spread = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let moved = round === 0;
    spread = 0;
    for (let point = 0; point < points.count; point++) {
      const { center, distance } = nearest(points, point, centers, k);
      if (group[point] !== center) moved = true;
      group[point] = center;
      spread += distance;
    }
    if (!moved) break;
    moveCenters(points, group, centers, k);
  }
  return { k, group, centers, spread };
}

/**
 * Returns the simplified silhouette, from -1 to 1: how much closer points are to their own center than to the nearest
 * other center. The full silhouette would compare each point with all other points.
 */
export function silhouette(points: Points, { k, group, centers }: Partition): number {
  let sum = 0;
  for (let point = 0; point < points.count; point++) {
    let own = 0;
    let other = Number.POSITIVE_INFINITY;
    for (let center = 0; center < k; center++) {
      const distance = Math.sqrt(squaredDistance(points, point, centers, center));
      if (center === group[point]) own = distance;
      else other = Math.min(other, distance);
    }
    const larger = Math.max(own, other);
    if (larger > 0 && Number.isFinite(larger)) sum += (other - own) / larger;
  }
  return sum / Math.max(1, points.count);
}

function firstCenters(points: Points, k: number, random: Random): Float32Array {
  const { count, stride, values } = points;
  const centers = new Float32Array(k * stride);
  const distances = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  let chosen = random.below(count);
  for (let center = 0; center < k; center++) {
    centers.set(values.subarray(chosen * stride, (chosen + 1) * stride), center * stride);
    let total = 0;
    for (let point = 0; point < count; point++) {
      const distance = Math.min(distances[point], squaredDistance(points, point, centers, center));
      distances[point] = distance;
      total += distance;
    }
    let left = random.next() * total;
    chosen = 0;
    while (chosen < count - 1 && left >= distances[chosen]) left -= distances[chosen++];
  }
  return centers;
}

function moveCenters(
  { count, stride, values }: Points,
  group: Uint32Array,
  centers: Float32Array,
  k: number,
): void {
  const sums = new Float64Array(k * stride);
  const sizes = new Uint32Array(k);
  for (let point = 0; point < count; point++) {
    const center = group[point];
    sizes[center] += 1;
    for (let d = 0; d < stride; d++) {
      sums[center * stride + d] += values[point * stride + d];
    }
  }
  sizes.forEach((size, center) => {
    // The center of an empty group stays where it was.
    if (size === 0) return;
    for (let d = 0; d < stride; d++) centers[center * stride + d] = sums[center * stride + d] / size;
  });
}

function nearest(points: Points, point: number, centers: Float32Array, k: number) {
  let center = 0;
  let distance = Number.POSITIVE_INFINITY;
  for (let candidate = 0; candidate < k; candidate++) {
    const found = squaredDistance(points, point, centers, candidate);
    if (found < distance) {
      distance = found;
      center = candidate;
    }
  }
  return { center, distance };
}

function squaredDistance(
  { stride, values }: Points,
  point: number,
  centers: Float32Array,
  center: number,
): number {
  let sum = 0;
  for (let d = 0; d < stride; d++) {
    const difference = values[point * stride + d] - centers[center * stride + d];
    sum += difference * difference;
  }
  return sum;
}
