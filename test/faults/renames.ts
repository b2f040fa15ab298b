import { kindsIn, nameOf, otherNameOf, type Program, places } from "./program";
import type { Kind } from "./rows";

/** Information about a resource in the state and the journal. */
export interface Known {
  isHeld(kind: Kind, name: string): boolean;
  /** Number of creates that are not in the state. */
  begun(kind: Kind, name: string): number;
}

/** Returns the resources that a rename creates again, with their dependents. With an alias, resources stay the same. */
export function madeAnewByNames(before: Program, after: Program, { isHeld, begun }: Known): Kind[] {
  return places.flatMap((place) => {
    const [name, other] = [nameOf(after, place), otherNameOf(after, place)];
    const [kind] = kindsIn[place];
    const isRenamed = nameOf(before, place) === other;
    // An earlier alias may be removed before a run has applied it.
    if (!after.aliased) return isRenamed || (isHeld(kind, other) && !isHeld(kind, name)) ? [kind] : [];
    if (!isRenamed) return [];
    // A killed run may have left both, with dependents of either.
    const moved = isHeld(kind, name) && isHeld(kind, other) ? [kind] : [];
    // A create under the previous name is not resumed under the new one.
    return [...moved, ...kindsIn[place].flatMap((each: Kind) => Array<Kind>(begun(each, other)).fill(each))];
  });
}
