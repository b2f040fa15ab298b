import { isPlaced } from "../algorithms";
import type { Deployed } from "./deployed";
import { type Explained, explain } from "./explain";
import type { Asked } from "./recommend";

/** Returns the recommendations for a user with at most `most` reasons for each. */
export async function reasoned(deployed: Deployed, asked: Asked, most: number) {
  const { basis, modelId, rankedBy, items } = await explain(deployed, { ...asked, add: [], remove: [] });
  return {
    basis: { from: basis, modelId, rankedBy },
    itemIds: items.map(({ itemId }) => itemId),
    why: items.map((item) => whyOf(item, most)),
  };
}

function whyOf({ score, reasons, byAttributes, rules }: Explained, most: number) {
  const first = <R extends { readonly adds: number }>(of: readonly R[]) =>
    of.filter(({ adds }) => adds > 0).slice(0, most);
  const [items, attributes] = [first(reasons), first(byAttributes)];
  if (!isPlaced(score)) return { score: null, items: [], attributes: [], rest: 0, rules };
  return {
    score,
    items: items.map(({ itemId, adds }) => ({ itemId, adds })),
    attributes: attributes.map(({ attribute, adds }) => ({ attribute, adds })),
    rest: [...items, ...attributes].reduce((rest, { adds }) => rest - adds, score),
    rules,
  };
}
