import { type Attributes, contains, type Selection } from "../algorithms";
import type { IdIndex } from "../base/id-index";
import type { Readable } from "./filters/admission";
import type { ItemFilters } from "./filters/item-filters";
import type { DeployedRules, Standing } from "./rules/deployed-rules";

/** The items that a recommendation may contain, by their numbers. */
export interface Choice {
  /** The only items that the call allows, ascending; undefined for all. */
  readonly among?: Uint32Array | undefined;
  /** Items not to recommend. */
  readonly without: ReadonlySet<number>;
  /** Items that the rules of the deployment allow and prefer. The same for all calls of a user, so it can be cached. */
  readonly standing?: Standing | undefined;
}

/** The fields of a call that limit what is recommended. */
export interface Restrictions {
  readonly filterQuery?: string | null | undefined;
  readonly excludeItemIds?: readonly string[] | undefined;
  readonly includeItemIds?: readonly string[] | undefined;
  /** What the filter may read. By default everything. */
  readonly readable?: Readable | undefined;
}

/** The person for whom a filter is evaluated. */
interface Asker {
  readAttributes(): Promise<Attributes | undefined>;
  /** The reason if a filter cannot read a user. */
  readonly noUser?: string | undefined;
}

/** The parts of a deployment that choose items. */
interface Chooser {
  readonly items: Pick<IdIndex, "find">;
  readonly filters: ItemFilters;
  readonly rules: DeployedRules | undefined;
}

/** Finds the items that a call and the rules allow; undefined if that is all. Ids that the deployment does not know are ignored. */
export async function choiceOf(
  chooser: Chooser,
  restrictions: Restrictions,
  asker: Asker,
): Promise<Choice | undefined> {
  const limited = await limitedBy(chooser, restrictions, asker);
  const standing = await chooser.rules?.standingFor({ attributes: () => asker.readAttributes() });
  return limited || standing ? { without: new Set(), ...limited, standing } : undefined;
}

async function limitedBy(
  { items, filters }: Chooser,
  { filterQuery, excludeItemIds = [], includeItemIds, readable }: Restrictions,
  asker: Asker,
): Promise<Choice | undefined> {
  const known = (ids: readonly string[]) =>
    ids.map((id) => items.find(id)).filter((item) => item !== undefined);
  const without = new Set(known(excludeItemIds));
  const attributes = () => asker.readAttributes();
  const matching = filterQuery
    ? await filters.matching(filterQuery, { attributes, noUser: asker.noUser, readable })
    : undefined;
  if (!includeItemIds) return matching || without.size > 0 ? { among: matching, without } : undefined;
  const included = Uint32Array.from(new Set(known(includeItemIds))).sort();
  const among = matching ? included.filter((item) => contains(matching, item)) : included;
  return { among, without };
}

/** Whether a call allows an item. */
export function isChosen({ among, without }: Choice, item: number): boolean {
  return !without.has(item) && (!among || contains(among, item));
}

/** Whether the rules and a call allow an item. */
export function isAllowed(choice: Choice | undefined, item: number): boolean {
  if (!choice) return true;
  const { among } = choice.standing ?? {};
  return isChosen(choice, item) && (!among || contains(among, item));
}

/** Whether a call allows fewer items than the rules. */
export function isLimited({ among, without }: Choice): boolean {
  return among !== undefined || without.size > 0;
}

/** Returns the items to choose from, by the call and the rules, and which of them to prefer. */
export function selectionOf({ among, standing }: Choice): Selection {
  const both = among && standing?.among ? common(among, standing.among) : (among ?? standing?.among);
  return { among: both, weights: standing?.weights };
}

/** Returns the numbers that are in both of two ascending lists. */
function common(a: Uint32Array, b: Uint32Array): Uint32Array {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < long.length / 16) return short.filter((item) => contains(long, item));
  let at = 0;
  return short.filter((item) => {
    while ((long[at] as number) < item) at++;
    return long[at] === item;
  });
}
