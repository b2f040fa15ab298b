import type { Figures } from "../release/history";

/** An answer to a recommendation call. */
export interface Answer {
  readonly userId: string;
  readonly kind: "answered" | "failed";
  readonly latencyMs: number;
  readonly itemIds: readonly string[];
}

/** Errors, empty answers and latency are measured over this many of the newest answers. */
const maxAnswers = 60;

/** Number of most shown items whose share of all places is measured. */
const topItems = 10;

/** The newest answers of a deployment. */
export class Answers {
  readonly #newest: Answer[] = [];
  readonly #lists = new Map<string, readonly string[]>();

  /** @param userCount number of users who get recommendations in turn */
  constructor(private readonly userCount: number) {}

  add(answer: Answer): void {
    this.#newest.push(answer);
    if (this.#newest.length > maxAnswers) this.#newest.shift();
    if (answer.kind === "answered") this.#lists.set(answer.userId, answer.itemIds);
  }

  get figures(): Figures {
    const answers = this.#newest;
    const answered = answers.filter(({ kind }) => kind === "answered");
    const share = (count: number) => (answers.length === 0 ? 0 : count / answers.length);
    const latencyMs = percentile95(answered.map((answer) => answer.latencyMs));
    // With fewer users, fewer items are shown, and the ten most shown would have a larger share.
    const popularity = this.#lists.size < this.userCount ? undefined : topShare([...this.#lists.values()]);
    return {
      answers: answers.length,
      errors: share(answers.length - answered.length),
      empty: share(answered.filter(({ itemIds }) => itemIds.length === 0).length),
      ...(latencyMs !== undefined && { latencyMs: Math.round(latencyMs * 10) / 10 }),
      ...(popularity !== undefined && { popularity: Math.round(popularity * 1e4) / 1e4 }),
    };
  }
}

/** Returns the share of all places that the most shown items have. */
function topShare(lists: readonly (readonly string[])[]): number | undefined {
  const counts = new Map<string, number>();
  for (const item of lists.flat()) counts.set(item, (counts.get(item) ?? 0) + 1);
  const sorted = [...counts.values()].sort((one, other) => other - one);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sorted.length === 0 ? undefined : sum(sorted.slice(0, topItems)) / sum(sorted);
}

function percentile95(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.ceil(0.95 * sorted.length) - 1];
}
