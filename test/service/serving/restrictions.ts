import * as fc from "fast-check";
import type { CatalogueItem } from "./catalogue";
import { type Condition, conditions } from "./conditions";

/** Options of a call that limit its items, as functions too. */
export interface Restrictions {
  readonly filter?: Condition;
  readonly exclude?: readonly string[];
  readonly include?: readonly string[];
}

/** Any combination of the options. */
export function anyRestrictions(itemIds: readonly string[]): fc.Arbitrary<Restrictions> {
  const some = fc.subarray([...itemIds, "unknown"], { minLength: 1 });
  return fc.record(
    { filter: conditions, exclude: fc.oneof(fc.constant([]), some), include: some },
    { requiredKeys: [] },
  );
}

/** Returns the options as fields of a call. */
export function fieldsOf({ filter, exclude, include }: Restrictions) {
  return {
    ...(filter && { filterQuery: filter.text }),
    ...(exclude && { excludeItemIds: [...exclude] }),
    ...(include && { includeItemIds: [...include] }),
  };
}

/** Whether a call with these options may return an item. */
export function allows(
  { filter, exclude, include }: Restrictions,
  { itemId, attributes }: { readonly itemId: string; readonly attributes: CatalogueItem },
  user: Parameters<Condition["matches"]>[1],
): boolean {
  const isListed = !exclude?.includes(itemId) && (include?.includes(itemId) ?? true);
  return isListed && (filter?.matches(attributes, user) ?? true);
}

/** Leaves out a filter that reads the user, which a call for similar items does not have. */
export function withoutUser({ filter, ...lists }: Restrictions): Restrictions {
  return { ...lists, ...(filter && !filter.text.includes("user.") && { filter }) };
}
