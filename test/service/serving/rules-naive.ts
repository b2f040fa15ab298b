import * as fc from "fast-check";
import type { Rules } from "../../../contract";
import type { CatalogueItem } from "./catalogue";
import { type Condition, conditions } from "./conditions";

/** Rules whose expressions are also functions. */
export interface NaiveRules {
  readonly filter: Condition | undefined;
  readonly boost: readonly { readonly when: Condition; readonly factor: number }[];
  readonly bury: readonly { readonly when: Condition; readonly factor: number }[];
  readonly pin: readonly {
    readonly itemId: string;
    readonly position: number;
    readonly when: Condition | undefined;
  }[];
  readonly limitPer: readonly { readonly attribute: "country" | "tags" | "genre"; readonly max: number }[];
}

const upTo = <T>(most: number, one: fc.Arbitrary<T>) => fc.array(one, { maxLength: most });

/** Any rules for the catalogue with these items. */
export function naiveRules(itemIds: readonly string[]): fc.Arbitrary<NaiveRules> {
  return fc.record({
    filter: fc.option(conditions, { nil: undefined, freq: 2 }),
    boost: upTo(2, fc.record({ when: conditions, factor: fc.constantFrom(1.25, 1.5, 4, 100) })),
    bury: upTo(2, fc.record({ when: conditions, factor: fc.constantFrom(0.01, 0.5, 0.75) })),
    pin: upTo(
      4,
      fc.record({
        itemId: fc.constantFrom(...itemIds, "unknown"),
        position: fc.integer({ min: 1, max: 8 }),
        when: fc.option(conditions, { nil: undefined }),
      }),
    ),
    limitPer: upTo(
      2,
      fc.record({
        attribute: fc.constantFrom("country" as const, "tags" as const, "genre" as const),
        max: fc.integer({ min: 1, max: 6 }),
      }),
    ),
  });
}

/** Returns the rules as a program declares them. */
export function declared({ filter, boost, bury, pin, limitPer }: NaiveRules): Rules {
  const texts = (list: NaiveRules["boost"]) => list.map(({ when, factor }) => ({ when: when.text, factor }));
  return {
    ...(filter && { filter: filter.text }),
    boost: texts(boost),
    bury: texts(bury),
    pin: pin.map(({ when, ...one }) => ({ ...one, ...(when && { when: when.text }) })),
    limitPer: [...limitPer],
  };
}

/** An item with the score of the model. */
export interface Scored {
  readonly itemId: string;
  readonly score: number;
  readonly attributes: CatalogueItem;
}

type User = Parameters<Condition["matches"]>[1];

/** Applies rules to the scores of all items that may be recommended to a user: weighs, filters, sorts, and arranges. */
export function naively(all: readonly Scored[], rules: NaiveRules, user: User, limit: number): string[] {
  const holds = (condition: Condition | undefined, { attributes }: Scored) =>
    condition?.matches(attributes, user) ?? true;
  const scored = all
    .filter((item) => holds(rules.filter, item))
    .map((item) => {
      const factors = [...rules.boost, ...rules.bury].filter(({ when }) => holds(when, item));
      const score = factors.reduce(
        (score, { factor }) => Math.fround(score > 0 ? score * factor : score / factor),
        item.score,
      );
      return { ...item, score };
    })
    .sort((a, b) => b.score - a.score);
  const pins = new Map<number, Scored>();
  for (const { itemId, position, when } of rules.pin) {
    const item = scored.find((one) => one.itemId === itemId);
    const isFree = !pins.has(position) && ![...pins.values()].some((one) => one.itemId === itemId);
    if (item && isFree && position <= limit && holds(when, item)) pins.set(position, item);
  }
  const shown: Scored[] = [];
  const hasRoom = (item: Scored) =>
    rules.limitPer.every(({ attribute, max }) => {
      const others = new Set([...shown, ...pins.values()]);
      const valuesOf = ({ attributes }: Scored) => [attributes[attribute] ?? []].flat();
      return valuesOf(item).every(
        (value) => [...others].filter((other) => valuesOf(other).includes(value)).length < max,
      );
    });
  for (let position = 1; position <= limit; position++) {
    const isShown = (item: Scored) => shown.includes(item) || [...pins.values()].includes(item);
    const next = pins.get(position) ?? scored.find((item) => !isShown(item) && hasRoom(item));
    if (next) shown.push(next);
  }
  const places = [...pins].sort(([a], [b]) => a - b).map(([, item]) => item);
  return [...new Set([...shown, ...places])].map(({ itemId }) => itemId);
}
