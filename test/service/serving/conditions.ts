import * as fc from "fast-check";
import type { CatalogueItem as Item } from "./catalogue";

/** A filter expression, and a function that decides the same without the parser. */
export interface Condition {
  readonly text: string;
  readonly matches: (item: Item, user: { country: string; age: number }) => boolean;
}

const simple: fc.Arbitrary<Condition> = fc.oneof(
  fc.constantFrom<Condition>(
    { text: 'item.in_stock == "yes"', matches: (item) => item.in_stock === "yes" },
    { text: '"adult" in item.tags', matches: (item) => item.tags?.includes("adult") ?? false },
    { text: "has(item.tags)", matches: (item) => item.tags !== undefined },
    { text: "item.featured", matches: (item) => item.featured },
    { text: "item.price < item.list_price", matches: ({ price = 1, list_price = 0 }) => price < list_price },
    {
      text: 'item.country in [user.country, "any"]',
      matches: (item, user) => [user.country, "any"].includes(item.country),
    },
    {
      text: "item.price + 10 > user.age",
      matches: ({ price }, { age }) => price !== undefined && price + 10 > age,
    },
  ),
  fc.double({ min: 0, max: 60, noNaN: true }).map((most) => ({
    text: `item.price < ${most.toFixed(3)}`,
    matches: ({ price }: Item) => price !== undefined && price < Number(most.toFixed(3)),
  })),
);

/** Expressions about the catalogue, combined with logic. */
export const conditions: fc.Arbitrary<Condition> = fc.letrec<{ test: Condition }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 3 },
    simple,
    tie("test").map(({ text, matches }) => ({
      text: `!(${text})`,
      matches: (...of: Parameters<Condition["matches"]>) => !matches(...of),
    })),
    fc.tuple(tie("test"), tie("test")).map(([a, b]) => ({
      text: `(${a.text} && ${b.text})`,
      matches: (...of: Parameters<Condition["matches"]>) => a.matches(...of) && b.matches(...of),
    })),
    fc.tuple(tie("test"), tie("test")).map(([a, b]) => ({
      text: `(${a.text} || ${b.text})`,
      matches: (...of: Parameters<Condition["matches"]>) => a.matches(...of) || b.matches(...of),
    })),
  ),
})).test;
