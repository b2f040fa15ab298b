import { once } from "node:events";
import { createWriteStream } from "node:fs";

const linesAtOnce = 1000;

/** Writes events, one per line. Their ids are random strings, like ids of real events. */
export async function writeEvents(path: string, count: number): Promise<void> {
  const out = createWriteStream(path);
  const random = seeded(count);
  for (let from = 0; from < count; from += linesAtOnce) {
    const lines: string[] = [];
    for (let at = from; at < Math.min(count, from + linesAtOnce); at++) {
      const tail = Math.floor(random() * 2 ** 48).toString(16);
      const event = {
        event_id: `${tail}-${at.toString(36)}`,
        user_id: `u${Math.floor(random() * 6040)}`,
        item_id: `i${Math.floor(3700 * random() ** 2.2)}`,
        ts: 1_700_000_000_000 + at * 1000,
        event_type: "watch",
        event_value: 1 + Math.floor(random() * 5),
        attributes: {},
      };
      lines.push(`${JSON.stringify(event)}\n`);
    }
    if (!out.write(lines.join(""))) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
