/**
 * Collects the highest scores, in a binary heap whose root is the lowest of them. Items may be added in any order. Of
 * equal scores, the item with the lower index wins.
 */
export class TopK {
  /** A score below this value cannot be among the highest. */
  floor: number;
  private readonly scores: Float64Array;
  private readonly items: Uint32Array;
  private size = 0;

  constructor(readonly count: number) {
    this.scores = new Float64Array(count);
    this.items = new Uint32Array(count);
    this.floor = count > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  /** Adds an item, unless its score is -Infinity, NaN or too low. */
  add(item: number, score: number): void {
    if (!(score > Number.NEGATIVE_INFINITY && score >= this.floor)) return;
    if (this.size < this.count) this.siftUp(item, score);
    else if (this.isBelow(0, item, score)) this.siftDown(item, score);
    if (this.size === this.count) this.floor = this.scores[0];
  }

  /** Returns the items with their scores, highest first. */
  sorted(): { items: number[]; scores: number[] } {
    const { items, scores } = this;
    const order = Array.from({ length: this.size }, (_, at) => at);
    order.sort((a, b) => scores[b] - scores[a] || items[a] - items[b]);
    return { items: order.map((at) => items[at]), scores: order.map((at) => scores[at]) };
  }

  private isBelow(at: number, item: number, score: number): boolean {
    return this.scores[at] < score || (this.scores[at] === score && this.items[at] > item);
  }

  private set(at: number, item: number, score: number): void {
    this.items[at] = item;
    this.scores[at] = score;
  }

  private siftUp(item: number, score: number): void {
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.isBelow(parent, item, score)) break;
      this.set(at, this.items[parent], this.scores[parent]);
      at = parent;
    }
    this.set(at, item, score);
  }

  /** Replaces the root. */
  private siftDown(item: number, score: number): void {
    const { size, items, scores } = this;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.isBelow(child + 1, items[child], scores[child])) child++;
      if (!this.isBelow(child, item, score)) break;
      this.set(at, items[child], scores[child]);
      at = child;
    }
    this.set(at, item, score);
  }
}

/** Returns the indices of the highest scores, highest first. See `TopK` for ties; -Infinity is left out. */
export function topIndices(scores: ArrayLike<number>, count: number): number[] {
  const top = new TopK(Math.max(0, Math.min(count, scores.length)));
  for (let index = 0; index < scores.length; index++) {
    if (scores[index] > top.floor) top.add(index, scores[index]);
  }
  return top.sorted().items;
}

/** Returns those of some indices that have the highest scores, highest first. */
export function topAmong(scores: ArrayLike<number>, among: Uint32Array, count: number): number[] {
  const top = new TopK(Math.max(0, Math.min(count, among.length)));
  for (const index of among) if (scores[index] > top.floor) top.add(index, scores[index]);
  return top.sorted().items;
}

/** Returns the value that would be at an index if the values were in ascending order. Reorders the values. */
export function nthLowest(values: Float32Array, index: number): number {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    // Hoare's partition. The pivot is the value in the middle of the range.
    const pivot = values[(low + high) >> 1];
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left] < pivot) left++;
      while (values[right] > pivot) right--;
      if (left > right) break;
      const swapped = values[left];
      values[left++] = values[right];
      values[right--] = swapped;
    }
    if (index <= right) high = right;
    else if (index >= left) low = left;
    else break;
  }
  return values[index];
}
