import { shopRecords } from "../shop";

const countries = ["de", "at", "any"];

/** The records of the shop with more attributes. Some items lack a price or tags. */
export function catalogue() {
  const records = shopRecords();
  const items = records.items.map(({ itemId, attributes }, at) => ({
    itemId,
    attributes: {
      ...attributes,
      in_stock: at % 3 === 0 ? "no" : "yes",
      ...(at % 7 > 0 && { price: at + 0.5, list_price: at % 2 === 0 ? at + 1 : at }),
      ...(at % 5 > 0 && { tags: at % 5 === 1 ? ["adult", "new"] : ["new"] }),
      country: countries[at % 3] as string,
      featured: at % 4 === 0,
      "shelf life": at,
      size: { width: at % 10 },
    },
  }));
  const users = records.users.map(({ userId, attributes }, at) => ({
    userId,
    attributes: { ...attributes, country: countries[at % 2] as string },
  }));
  return { ...records, items, users };
}

/** Attributes of an item of the catalogue. */
export type CatalogueItem = ReturnType<typeof catalogue>["items"][number]["attributes"];
