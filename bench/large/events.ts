import { createRandom } from "../../service/algorithms/random";
import type { Api } from "../service/api";
import type { WireEvent } from "../service/events";
import { upload, upsertBodies } from "../service/upload";

/** The size of a catalogue with very many items, and of its users. */
interface Shape {
  readonly users: number;
  readonly items: number;
  readonly eventsOfUser: number;
}

/** Users whose events are uploaded together. */
const part = 50_000;
/** Number of groups of items. Most of a user's items are from one of them. */
const groups = 500;
/** Share of the events with an item of any group. */
const elsewhere = 0.2;

/** Creates a dataset with the events of all users, and returns its id. */
export async function uploadedEvents(api: Api, shape: Shape): Promise<string> {
  const { event_dataset_id } = await api.call("/create-event-dataset", { name: "events", num_shards: 100 });
  for (let from = 0; from < shape.users; from += part) {
    const events = eventsOf(shape, from, Math.min(shape.users, from + part));
    const rows = Array.from(events, (event) => JSON.stringify(event));
    await upload(api, upsertBodies(event_dataset_id as string, rows));
  }
  return event_dataset_id as string;
}

/**
 * Generates the events of some users. The users of a group share its items evenly, so each item has an event. Their
 * other items are more often the first ones of the group.
 */
function* eventsOf({ users, items, eventsOfUser }: Shape, from: number, to: number): Generator<WireEvent> {
  const random = createRandom(from + 1);
  const itemsOfGroup = Math.floor(items / groups);
  const own = Math.ceil(itemsOfGroup / (users / groups));
  for (let user = from; user < to; user++) {
    const chosen = new Set<number>();
    const member = Math.floor(user / groups);
    for (let at = 0; at < own; at++) chosen.add(itemOf(user % groups, (member * own + at) % itemsOfGroup));
    while (chosen.size < eventsOfUser) {
      const group = random.next() < elsewhere ? random.below(groups) : user % groups;
      chosen.add(itemOf(group, Math.floor(itemsOfGroup * random.next() ** 2)));
    }
    let at = 0;
    for (const item of chosen) yield event(user, item, at++);
  }
}

function itemOf(group: number, place: number): number {
  return place * groups + group;
}

function event(user: number, item: number, at: number): WireEvent {
  return {
    event_id: `${user}-${at}`,
    user_id: `u${user}`,
    item_id: `i${item}`,
    ts: 1_700_000_000_000 + (user % 1000) * 1000 + at * 86_400_000,
    event_type: "watch",
    event_value: 1,
    attributes: {},
  };
}
