import type { Compiled } from "../../../expressions/compile";
import { ExpressionError } from "../../../expressions/parse";
import { ServiceError, shortened } from "../../base/error";
import { costOf, type Input } from "./evaluate";

/** Maximum estimated time per item, in comparisons. More would take longer than 5 ms for 100,000 items. */
const maxCostPerItem = 4;

/** The estimated time is only limited above this number of items, because small catalogues are fast anyway. */
const minLimitedItems = 25_000;

/** What a caller with a public key may read. */
export interface Readable {
  /** Name of the key. */
  readonly key: string;
  /** Names of the item attributes. Attributes of users are hidden. */
  readonly attributes: readonly string[];
}

/** Whether a caller may read an attribute. */
export function mayRead(readable: Readable | undefined, of: "item" | "user", name: string): boolean {
  return !readable || (of === "item" && readable.attributes.includes(name));
}

/** Throws if an expression reads an attribute that its caller may not read. */
export function requireReadable(
  { item, user }: Readonly<Record<"item" | "user", readonly string[]>>,
  readable: Readable | undefined,
): void {
  if (!readable) return;
  if (user[0] !== undefined)
    throw new ServiceError(
      "FORBIDDEN",
      `The public key ${readable.key} may not filter by user.${shortened(user[0])}: the answer would reveal data of the ` +
        "user. Filter by attributes of users in a call from your server.",
    );
  const hidden = item.find((name) => !mayRead(readable, "item", name));
  if (hidden !== undefined)
    throw new ServiceError(
      "FORBIDDEN",
      `The public key ${readable.key} may not filter by item.${shortened(hidden)}. An operator can allow it with ` +
        `\`recommender clients update ${readable.key} --attributes ${[...readable.attributes, shortened(hidden)].join(",")}\`.`,
    );
}

/** Throws if the evaluation of an expression would block other calls for too long. */
export function requireCheap(compiled: Compiled, input: Input): void {
  const large = input.columns.findIndex(({ isTooLarge }) => isTooLarge);
  if (large >= 0)
    throw new ExpressionError(
      0,
      `item.${compiled.item[large]} has too many long values to filter by; filter by another attribute`,
    );
  const cost = costOf(compiled, input);
  const most = maxCostPerItem * Math.max(input.items, minLimitedItems);
  if (cost <= most) return;
  throw new ExpressionError(
    compiled.root.at,
    `the expression is too expensive for ${input.items.toLocaleString("en")} items: it takes ` +
      `${timesOf(cost / most)} times the limit. Test fewer attributes that differ between most items, fewer long lists ` +
      "and texts, or add an attribute with the result to the items",
  );
}

function timesOf(ratio: number): string {
  return ratio < 10 ? ratio.toFixed(1) : Math.round(ratio).toLocaleString("en");
}
