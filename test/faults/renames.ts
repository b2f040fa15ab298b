import { kindsIn, nameOf, otherNameOf, type Program, places } from "./program";
import type { Kind } from "./rows";

/** What the state and the journal of a stack tell of a resource. */
export interface Known {
  isHeld(kind: Kind, name: string): boolean;
  /** How much was begun for it that did not come into the state. */
  begun(kind: Kind, name: string): number;
}

/** What is made anew, with what stands on it, as resources have other names; with an alias they are the same ones. */
export function madeAnewByNames(before: Program, after: Program, { isHeld, begun }: Known): Kind[] {
  return places.flatMap((place) => {
    const [name, other] = [nameOf(after, place), otherNameOf(after, place)];
    const [kind] = kindsIn[place];
    const isRenamed = nameOf(before, place) === other;
    // An alias of before may be gone before a run has seen it.
    if (!after.aliased) return isRenamed || (isHeld(kind, other) && !isHeld(kind, name)) ? [kind] : [];
    if (!isRenamed) return [];
    // A run that was killed may have left both, and what stands on them stands on either.
    const moved = isHeld(kind, name) && isHeld(kind, other) ? [kind] : [];
    // What it began under the former name is not taken up under the new one.
    return [...moved, ...kindsIn[place].flatMap((each: Kind) => Array<Kind>(begun(each, other)).fill(each))];
  });
}
