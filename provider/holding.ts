import type { Properties } from "./arguments";
import type { Urn } from "./engine-log";
import type { Run } from "./session";

/** Something that resources of a run may hold: its kind and its id. */
export interface Holdable {
  readonly type: string;
  readonly id: string;
}

const keyOf = ({ type, id }: Holdable) => `${type} ${id}`;

/** A resource has made it, or taken it over, in this run. */
export function hold(run: Run, what: Holdable, urn: Urn): void {
  run.held.set(keyOf(what), { urn, createdNow: true });
}

/** The state is seen to hold it for a resource, which keeps it unless it is to be replaced. */
export function remember(
  run: Run,
  what: Holdable,
  replaces: readonly string[],
  urn: Urn,
  { __made: made }: Properties,
): void {
  if (replaces.length > 0) run.replacing.add(urn);
  else run.held.set(keyOf(what), { urn, createdNow: false, made });
}

/** Who else holds it by now, in words; undefined where nobody does, so that it may be deleted. */
export function heldBy({ held }: Run, what: Holdable, urn: Urn, { __made: made }: Properties) {
  const holding = held.get(keyOf(what));
  if (!holding || (!holding.createdNow && holding.urn === urn && holding.made === made)) return undefined;
  return holding.urn === urn ? "its replacement" : `${holding.urn}`;
}
