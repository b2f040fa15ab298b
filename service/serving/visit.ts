import type { EventRule, UserItem } from "../algorithms";
import type { IdIndex } from "../base/id-index";
import { weightOf } from "../store/snapshot";
import { positive, type UserEvents, withOtherTypes } from "./user-events";

/** Events of the current visit. */
export type Visit = readonly {
  readonly itemId: string;
  readonly eventType?: string | undefined;
  readonly eventValue: number;
}[];

/** The parts of a deployment that identify items and event types. */
interface Numbering {
  readonly items: Pick<IdIndex, "find">;
  readonly targetEventType: string;
}

/** Sum of the event values of an item in a visit, and the time of the last of these events. */
interface Seen {
  readonly sum: number;
  readonly time: number;
}

/** Items of a visit, for each event type. The key of the target event type is undefined. */
type Visited = ReadonlyMap<string | undefined, ReadonlyMap<number, Seen>>;

/**
 * Adds up the events of a visit, which count as if they had just happened, one after another. Items that the deployment
 * does not know are left out.
 */
export function visitedItems({ items, targetEventType }: Numbering, visit: Visit): Visited {
  const visited = new Map<string | undefined, Map<number, Seen>>();
  let time = Date.now() - visit.length;
  for (const { itemId, eventType, eventValue } of visit) {
    time++;
    const item = items.find(itemId);
    if (item === undefined) continue;
    const type = eventType === targetEventType ? undefined : eventType;
    const seen = visited.get(type) ?? new Map<number, Seen>();
    seen.set(item, { sum: (seen.get(item)?.sum ?? 0) + weightOf(eventValue), time });
    visited.set(type, seen);
  }
  return visited;
}

/** The stored events of a user together with the events of the current visit. */
export class VisitedEvents implements UserEvents {
  constructor(
    private readonly stored: UserEvents | undefined,
    private readonly visited: Visited,
  ) {}

  get items(): Iterable<number> {
    return new Set([...(this.stored?.items ?? []), ...(this.visited.get(undefined)?.keys() ?? [])]);
  }

  sums(type?: string): UserItem[] {
    const pairs = new Map((this.stored?.sums(type) ?? []).map((pair) => [pair.item, pair]));
    for (const [item, { sum, time }] of this.visited.get(type) ?? []) {
      const stored = pairs.get(item);
      const weight = Math.fround((stored?.weight ?? 0) + sum);
      pairs.set(item, { item, weight, time: Math.max(stored?.time ?? time, time) });
    }
    return [...pairs.values()];
  }

  weights(rule?: EventRule): UserItem[] {
    return withOtherTypes(positive(this.sums()), rule, (type) => positive(this.sums(type)));
  }
}
