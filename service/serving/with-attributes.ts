import { attributeOf } from "../algorithms";
import type { Deployed } from "./deployed";

/** Adds the requested attributes to items. A missing attribute is null, so all items have the same keys. */
export async function withAttributes(
  deployed: Deployed,
  itemIds: readonly string[],
  names: readonly string[],
): Promise<{ itemId: string; attributes: Record<string, unknown> }[]> {
  const records = names.length > 0 ? await deployed.attributesOf(itemIds) : undefined;
  return itemIds.map((itemId) => {
    const record = records?.get(itemId);
    const values = names.map((name) => [name, attributeOf(record, name) ?? null]);
    return { itemId, attributes: Object.fromEntries(values) as Record<string, unknown> };
  });
}
