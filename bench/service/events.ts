/** An event in the wire format. */
export interface WireEvent {
  readonly event_id: string;
  readonly user_id: string;
  readonly item_id: string;
  readonly ts: number;
  readonly event_type: string;
  readonly event_value: number;
  readonly attributes: Record<string, never>;
}

/** Generates events like those of MovieLens 1M: few very active users, few very popular items, preferences that can be learned. */
export function generateEvents(
  { users, items, events }: { users: number; items: number; events: number },
  seed = 7,
): WireEvent[] {
  const random = seeded(seed);
  const tastes = 18;
  const activity = Array.from({ length: users }, () => Math.exp(1.1 * normal(random)));
  const total = activity.reduce((sum, value) => sum + value, 0);
  const made: WireEvent[] = [];
  for (let user = 0; user < users && made.length < events; user++) {
    const own = [0, 1, 2].map(() => Math.floor(random() * tastes));
    const wanted = Math.min(
      items * 0.6,
      Math.max(20, Math.round(((activity[user] as number) / total) * events)),
    );
    const seen = new Set<number>();
    for (let tries = 0; seen.size < wanted && tries < wanted * 20; tries++) {
      const item = Math.floor(items * random() ** 2.2);
      if (!own.includes(item % tastes) && random() < 0.7) continue;
      seen.add(item);
    }
    for (const item of seen) made.push(event(made.length, user, item, random));
  }
  while (made.length < events) {
    made.push(event(made.length, Math.floor(random() * users), Math.floor(items * random() ** 2.2), random));
  }
  made.length = events;
  return shuffled(made, random);
}

/** Returns a random id, like ids of real events. */
function event(at: number, user: number, item: number, random: () => number): WireEvent {
  const tail = Math.floor(random() * 2 ** 48).toString(16);
  return {
    event_id: `${tail}-${at.toString(36)}`,
    user_id: `u${user}`,
    item_id: `i${item}`,
    ts: 1_700_000_000_000 + at * 1000,
    event_type: "watch",
    event_value: 1 + Math.floor(random() * 5),
    attributes: {},
  };
}

function shuffled<T>(list: T[], random: () => number): T[] {
  for (let at = list.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [list[at], list[other]] = [list[other] as T, list[at] as T];
  }
  return list;
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
