import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { limits } from "../../contract";
import { connect } from "../service/api";

/** Sends ready-made bodies, eight at once, and nothing else: what the service takes at most from one sender. */
async function main([file, url, key, datasetId]: string[]): Promise<void> {
  const lines = readFileSync(file as string, "utf8")
    .trimEnd()
    .split("\n");
  const bodies: Buffer[] = [];
  for (let from = 0; from < lines.length; from += limits.recordsPerUpsert) {
    const events = lines.slice(from, from + limits.recordsPerUpsert).join(",");
    const body = `{"event_dataset_id":${JSON.stringify(datasetId)},"events":[${events}]}`;
    bodies.push(gzipSync(body, { level: 1 }));
  }
  lines.length = 0;
  const api = await connect({ url: url as string, key: key as string, readyMs: 0, kill: () => undefined });
  await api.headers("/upsert-dataset-events");
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < bodies.length) {
        const { failed_ids } = await api.send("/upsert-dataset-events", bodies[next++] as Buffer, true);
        if ((failed_ids as string[]).length > 0) throw new Error("events were refused");
      }
    }),
  );
  process.send?.((performance.now() - began) / 1000);
}

void main(process.argv.slice(2)).then(() => process.exit());
