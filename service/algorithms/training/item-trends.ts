import type { Interactions } from "../interactions";

const DAY_MS = 86_400_000;
/** The half-life is the time span of this share of the pairs, counted from the latest. */
const LATE = 0.2;

/**
 * Recent popularity and age of items at a point in time. A ranking must learn from what was known when a user chose an
 * item, not from later choices of other users. When serving, the point in time is the last event of the training.
 */
export class ItemTrends {
  /** Time of the last event. */
  readonly now: number;
  private readonly order: Uint32Array;
  private readonly time: Float64Array;
  private readonly index: Uint32Array;
  /** Time in which a choice loses half of its weight. */
  private readonly halfLife: number;
  private readonly weights: Float64Array;
  private readonly weighed: Float64Array;
  private readonly first: Float64Array;
  private next = 0;
  private moment = Number.NEGATIVE_INFINITY;

  constructor(
    { items, index, time = new Float64Array(index.length) }: Interactions,
    /** Number of users that each user represents, if the users are a sample. */
    private readonly times = 1,
  ) {
    this.index = index;
    this.time = time;
    this.order = Uint32Array.from({ length: index.length }, (_, at) => at).sort(
      (a, b) => time[a] - time[b] || a - b,
    );
    this.now = this.timeAt(this.order.length - 1) ?? 0;
    this.halfLife = this.now - (this.timeAt(Math.floor(this.order.length * (1 - LATE))) ?? this.now) || 1;
    this.weights = new Float64Array(items);
    this.weighed = new Float64Array(items);
    this.first = new Float64Array(items).fill(Number.POSITIVE_INFINITY);
  }

  /** Advances to a later time, and counts the events before it. */
  moveTo(moment: number): this {
    this.moment = Math.min(moment, this.now);
    for (; this.next < this.order.length && this.time[this.order[this.next]] < moment; this.next++) {
      const at = this.order[this.next];
      const [item, time] = [this.index[at], this.time[at]];
      this.weights[item] = this.weightAt(item, time) + 1;
      this.weighed[item] = time;
      this.first[item] = Math.min(this.first[item], time);
    }
    return this;
  }

  /** Returns the number of recent users of an item. Earlier users count less. */
  lateOf(item: number): number {
    return this.weightAt(item, this.moment) * this.times;
  }

  /** Returns the logarithm of the days since an item was first chosen; 0 if it was not chosen yet. */
  ageOf(item: number): number {
    return Math.log1p(Math.max(0, this.moment - this.first[item]) / DAY_MS);
  }

  private timeAt(place: number): number | undefined {
    const at = this.order[place];
    return at === undefined ? undefined : this.time[at];
  }

  private weightAt(item: number, moment: number): number {
    const weight = this.weights[item];
    return weight === 0 ? 0 : weight * 2 ** ((this.weighed[item] - moment) / this.halfLife);
  }
}
