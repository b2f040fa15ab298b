/** Indices of the `count` highest scores, highest first; equal scores go by lower index, -Infinity is left out. */
export function topIndices(scores: ArrayLike<number>, count: number): number[] {
  const size = Math.min(count, scores.length);
  const heap: number[] = [];
  if (size <= 0) return heap;
  let floor = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index];
    // Written so that NaN never enters.
    if (!(score > floor)) continue;
    if (heap.length < size) {
      heap.push(index);
      siftUp(heap, scores);
      if (heap.length === size) floor = scores[heap[0]];
    } else {
      heap[0] = index;
      siftDown(heap, scores);
      floor = scores[heap[0]];
    }
  }
  return heap.sort((a, b) => scores[b] - scores[a] || a - b);
}

/** The `count` highest scores of those that are added, in whatever order; equal ones go by lower index. */
export class Top {
  /** What a score must reach. */
  floor = Number.NEGATIVE_INFINITY;
  private readonly scores: Float64Array;
  private readonly places: Uint32Array;
  private found = 0;

  constructor(private readonly count: number) {
    this.scores = new Float64Array(count);
    this.places = new Uint32Array(count);
  }

  /** Adds one; -Infinity and what is not a number are left out. */
  add(index: number, score: number): void {
    const { scores, places, count } = this;
    if (!(score > Number.NEGATIVE_INFINITY && score >= this.floor)) return;
    let place = this.found < count ? this.found++ : count;
    for (; place > 0; place--) {
      const above = scores[place - 1];
      if (above > score || (above === score && places[place - 1] < index)) break;
      if (place === count) continue;
      scores[place] = above;
      places[place] = places[place - 1];
    }
    if (place === count) return;
    scores[place] = score;
    places[place] = index;
    if (this.found === count) this.floor = scores[count - 1];
  }

  /** Their indices, the highest first. */
  items(): number[] {
    return [...this.places.subarray(0, this.found)];
  }

  /** The scores, in the same order. */
  values(): number[] {
    return [...this.scores.subarray(0, this.found)];
  }
}

/**
 * Indices of the `count` highest sums of `own` and `scale` times `adds`, highest first; equal ones go by lower index,
 * -Infinity is left out.
 */
export function topOfSums(own: Float32Array, adds: Float32Array, scale: number, count: number): number[] {
  const sums = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const places = new Uint32Array(count);
  let floor = Number.NEGATIVE_INFINITY;
  let found = 0;
  for (let at = 0; at < own.length; at++) {
    const sum = own[at] + scale * adds[at];
    if (!(sum > floor)) continue;
    let place = found < count ? found++ : count - 1;
    for (; place > 0 && sums[place - 1] < sum; place--) {
      sums[place] = sums[place - 1];
      places[place] = places[place - 1];
    }
    sums[place] = sum;
    places[place] = at;
    floor = found < count ? Number.NEGATIVE_INFINITY : sums[count - 1];
  }
  return [...places.subarray(0, found)];
}

/** The value that would stand at a place if the values, which are moved about, were in ascending order. */
export function nthLowest(values: Float32Array, place: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    // Hoare's partition, around the one in the middle.
    const pivot = values[(low + high) >> 1];
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      const moved = values[left];
      values[left++] = values[right];
      values[right--] = moved;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place];
}

function worse(a: number, b: number, scores: ArrayLike<number>): boolean {
  const difference = scores[a] - scores[b];
  return difference < 0 || (difference === 0 && a > b);
}

function siftUp(heap: number[], scores: ArrayLike<number>): void {
  let at = heap.length - 1;
  const moved = heap[at];
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!worse(moved, heap[parent], scores)) break;
    heap[at] = heap[parent];
    at = parent;
  }
  heap[at] = moved;
}

function siftDown(heap: number[], scores: ArrayLike<number>): void {
  const moved = heap[0];
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && worse(heap[child + 1], heap[child], scores)) child++;
    if (!worse(heap[child], moved, scores)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}
