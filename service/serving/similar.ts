import { choiceOf, isAllowed } from "./choice";
import type { Deployed } from "./deployed";
import { nobody } from "./person";
import type { Asked } from "./recommend";
import { arranged } from "./rules/arrange";
import { VisitedEvents, visitedItems } from "./visit";

/** Parameters of a call for similar items. */
export interface AskedSimilar extends Omit<Asked, "userId"> {
  readonly itemIds: readonly string[];
}

/**
 * Returns the ids of the items that are most similar to given ones. Unknown items are ignored. If all are unknown, the
 * most popular items are returned, as for an unknown user.
 */
export async function similarItems(deployed: Deployed, asked: AskedSimilar): Promise<string[]> {
  const { itemIds, limit, visit, isAddressed } = asked;
  const { items } = deployed;
  // Updates the models with items that were written before the call.
  await deployed.events.read(nobody, isAddressed);
  const noUser = "there is no user in this call; user is only available in /recommend-items-to-user";
  const attributes = async () => undefined;
  const choice = await choiceOf(deployed, asked, { noUser, readAttributes: attributes });
  const to = [...new Set(itemIds.map((id) => items.find(id)).filter((item) => item !== undefined))];
  const had = visit ? deployed.had(new VisitedEvents(undefined, visitedItems(deployed, visit))) : [];
  const without = new Set([...(choice?.without ?? []), ...had]);
  const isLimited = choice !== undefined || without.size > 0;
  const list = (wanted: number) => {
    const items = deployed.similar.best(to, wanted, isLimited ? { ...choice, without } : undefined);
    return { items, isComplete: items.length < wanted };
  };
  const given = new Set([...to, ...without]);
  const arrangement = await deployed.rules?.arrangementFor(
    { attributes },
    (item) => !given.has(item) && isAllowed(choice, item),
  );
  const found = arrangement ? arranged(limit, arrangement, list) : list(limit).items;
  return found.map((item) => items.ids[item] as string);
}
