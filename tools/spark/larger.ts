// `npm run test:spark -- --larger`: trains on 5 million events with examples/trainer-spark, and serves the model.
// The training runs on a local Spark cluster.

import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure } from "../../bench/scale/measure";
import { startProcess } from "../../bench/service/api";
import { startSpark } from "./cluster";

const parts = 5;

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-spark-"));
  const cluster = await startSpark(join(directory, "workers"));
  try {
    const plan = ["--plan-shards", String(20 * parts)];
    const data = join(directory, "data");
    const service = await startProcess("--data", data, ...plan, "--trainer", cluster.trainer);
    const { events, trainingSeconds, dimensions, answersPerSecond } = await measure(
      "spark",
      service,
      parts,
    ).finally(() => service.kill());
    console.table({ spark: { events, trainingSeconds, dimensions, answersPerSecond } });
    assert.equal(cluster.used(), 2, "both workers of the cluster take part");
    console.log("Passed.");
  } finally {
    cluster.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
