import { IdIndex } from "../../service/base/id-index";
import { ItemFilters } from "../../service/serving/filters/item-filters";
import { attributesOf } from "./shop";

const items = 100_000;
const rounds = 200;

/** Milliseconds to evaluate an expression over all items. */
export interface Evaluation {
  readonly expression: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/**
 * The expressions to measure. The last one differs in each round and reads the user, so cached results do not help it.
 */
const expressions: readonly ((round: number) => string)[] = [
  (round) => `item.price < ${(round % 499) + 0.5}`,
  (round) => `item.in_stock == "yes" && item.shelf in ["s${round % 100}", "s7"]`,
  (round) =>
    `item.in_stock == "yes" && item.price < ${(round % 499) + 0.5} && !("adult" in item.tags) && item.country in [user.country, "any"]`,
];

/** Measures the evaluation of expressions over 100,000 items, without cached results. */
export async function evaluations(): Promise<Evaluation[]> {
  const index = new IdIndex(Array.from({ length: items }, (_, item) => `i${item}`));
  const filters = new ItemFilters(
    async (visit) => {
      for (let item = 0; item < items; item++) visit(`i${item}`, JSON.stringify(attributesOf(item)));
    },
    index,
    { items: null, users: null },
  );
  const found: Evaluation[] = [];
  for (const expression of expressions) {
    // Read the attributes first, because a service reads them once, not in each call.
    await filters.matching(expression(rounds), { attributes: async () => ({ country: "fr" }) });
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      await filters.matching(expression(round), { attributes: async () => ({ country: `c${round}` }) });
      took.push(performance.now() - began);
    }
    const [firstMs = 0] = took;
    took.sort((a, b) => a - b);
    found.push({
      expression: expression(0),
      firstMs,
      medianMs: took[rounds / 2] as number,
      p99Ms: took[Math.floor(rounds * 0.99)] as number,
    });
  }
  return found;
}
