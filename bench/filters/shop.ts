/** The size of the catalogue and the number of users. */
export interface Shape {
  readonly users: number;
  readonly items: number;
  readonly eventsOfUser: number;
}

const countries = ["de", "at", "ch", "fr", "any"];

/** Number of values of the attribute `shelf`, so a filter for one of them matches 1 % of the items. */
export const shelves = 100;

/** Attributes of an item of the shop. */
export function attributesOf(item: number) {
  return {
    genre: [`g${item % 18}`],
    title: `Title ${item}`,
    // Independent of the groups of items that the same users like.
    shelf: `s${Math.floor((item * 7919) / 13) % shelves}`,
    price: (item * 37) % 500,
    in_stock: item % 3 === 0 ? "no" : "yes",
    tags: item % 5 === 1 ? ["adult", "new"] : ["new"],
    country: countries[item % countries.length] as string,
  };
}
