import { readFileSync } from "node:fs";
import { connect } from "../service/api";
import { upload, upsertBodies } from "../service/upload";

/** Only sends prepared bodies, to measure the highest rate that the service accepts from one sender. */
async function main([file, url, key, datasetId]: string[]): Promise<void> {
  const lines = readFileSync(file as string, "utf8")
    .trimEnd()
    .split("\n");
  const bodies = upsertBodies(datasetId as string, lines);
  lines.length = 0;
  process.send?.(await upload(connect({ url: url as string, key: key as string }), bodies));
}

void main(process.argv.slice(2)).then(() => process.exit());
