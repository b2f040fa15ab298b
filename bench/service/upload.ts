import { gzipSync } from "node:zlib";
import { limits } from "../../contract";
import type { Api } from "./api";

const path = "/upsert-dataset-events";
const callsAtOnce = 8;

/** Combines events, given as JSON strings, into upsert requests with full batches. */
export function upsertBodies(datasetId: string, events: readonly string[]): Buffer[] {
  const bodies: Buffer[] = [];
  for (let from = 0; from < events.length; from += limits.recordsPerUpsert) {
    const batch = events.slice(from, from + limits.recordsPerUpsert).join(",");
    const body = `{"event_dataset_id":${JSON.stringify(datasetId)},"events":[${batch}]}`;
    bodies.push(gzipSync(body, { level: 1 }));
  }
  return bodies;
}

/** Sends the bodies, eight at a time, and returns the seconds. */
export async function upload(api: Api, bodies: readonly Buffer[]): Promise<number> {
  await api.headers(path);
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: callsAtOnce }, async () => {
      while (next < bodies.length) {
        const { failed_ids } = await api.send(path, bodies[next++] as Buffer, true);
        if ((failed_ids as string[]).length > 0) throw new Error("The service rejected events.");
      }
    }),
  );
  return (performance.now() - began) / 1000;
}
