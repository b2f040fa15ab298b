import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { limits } from "../contract";
import { goal, report } from "./report/report";
import { type Api, connect, startProcess } from "./service/api";
import { generateEvents, type WireEvent } from "./service/events";
import { answerRates, latencies } from "./service/load";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: 6040, items: 3700, events: Math.round(1_000_000 * scale) };

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  try {
    const events = generateEvents(shape);
    const before = await bareRate(join(folder, "before.db"), events.length);
    const service = await startProcess(join(folder, "data"));
    const api = await connect(service);
    const taken = await ingest(api, events);
    // Measured on both sides of the service's turn, and the better counts: other work on the machine must not flatter us.
    const after = await bareRate(join(folder, "after.db"), events.length);
    const figures = { bareRowsPerSecond: Math.max(before, after), ...taken, ...(await serve(api)) };
    service.kill();
    conclude(service.readyMs, figures);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Rows per second of a loop that does nothing but write them, in a process of its own. */
function bareRate(file: string, count: number): Promise<number> {
  const child = fork(join(__dirname, "service", "bare.ts"), [file, String(count)], {
    execArgv: ["--require", require.resolve("tsx/cjs")],
  });
  return new Promise((resolve, reject) => {
    child.on("message", (rate) => resolve(rate as number));
    child.on("error", reject);
  });
}

async function ingest(api: Api, events: readonly WireEvent[]) {
  const { event_dataset_id } = await api.call("POST", "/create-event-dataset", {
    name: "events",
    num_shards: 20,
  });
  const bodies: Buffer[] = [];
  for (let from = 0; from < events.length; from += limits.recordsPerUpsert) {
    bodies.push(
      gzipSync(
        JSON.stringify({ event_dataset_id, events: events.slice(from, from + limits.recordsPerUpsert) }),
      ),
    );
  }
  let next = 0;
  let peakBytes = 0;
  const watch = setInterval(async () => {
    peakBytes = Math.max(peakBytes, (await api.status()).memory_bytes);
  }, 500);
  const began = performance.now();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < bodies.length) {
        const { failed_ids } = await api.send("/upsert-dataset-events", bodies[next++] as Buffer, true);
        if ((failed_ids as string[]).length > 0) throw new Error("events were refused");
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watch);
  api.eventDatasetId = event_dataset_id as string;
  return { rowsPerSecond: events.length / seconds, peakMemoryBytes: peakBytes };
}

async function serve(api: Api) {
  const { user_dataset_id } = await api.call("POST", "/create-user-dataset", {
    name: "users",
    num_shards: 1,
  });
  const { item_dataset_id } = await api.call("POST", "/create-item-dataset", {
    name: "items",
    num_shards: 1,
  });
  const items = Array.from({ length: shape.items }, (_, item) => ({
    item_id: `i${item}`,
    attributes: { genre: [`g${item % 18}`], title: `Title ${item}` },
  }));
  for (let from = 0; from < items.length; from += 1000) {
    await api.call("POST", "/upsert-dataset-items", {
      item_dataset_id,
      items: items.slice(from, from + 1000),
    });
  }
  const { project_id } = await api.call("POST", "/create-project", {
    name: "bench",
    project_type: "RECOMMEND_ITEMS_TO_USER",
    user_dataset_id,
    item_dataset_id,
    event_dataset_id: api.eventDatasetId,
    target_event_type: "watch",
  });
  const { algorithm_id } = await api.call("POST", "/create-algorithm", {
    project_id,
    name: "g1",
    algorithm_type: "G1",
    algorithm_parameters: {},
  });
  const training = await api.job(
    project_id,
    await api.call("POST", "/submit-training-job", { project_id, algorithm_id, name: "m" }),
  );
  const deployment = await api.job(
    project_id,
    await api.call("POST", "/submit-deployment-job", {
      project_id,
      name: "d",
      generator_model_id: (training.result as { model_id: string }).model_id,
      qps: 1_000_000,
    }),
  );
  const rates = await answerRates(api, shape.users, 10);
  const p = await latencies(api, shape.users, Math.min(rates.answersPerSecond, 3000) / 2, 10);
  return {
    trainingSeconds: training.seconds,
    deploymentSeconds: deployment.seconds,
    ...rates,
    ...p,
  };
}

function conclude(
  readyMs: number,
  figures: Awaited<ReturnType<typeof ingest>> &
    Awaited<ReturnType<typeof serve>> & { bareRowsPerSecond: number },
): void {
  const ratio = figures.rowsPerSecond / figures.bareRowsPerSecond;
  const goals = [
    goal("upsert rate over HTTP / bare loop", "≥", 0.5, ratio),
    goal("peak memory while upserting (MB)", "<", 600, figures.peakMemoryBytes / 1e6),
    goal("recommendations per second", "≥", 3000, figures.answersPerSecond),
    goal("p99 at half of that load (ms)", "<", 20, figures.p99Ms),
    goal("training (s)", "<", 60, figures.trainingSeconds),
    goal("ready after start (ms)", "<", 1000, readyMs),
  ];
  report("service", {
    ratios: { upsertOverBare: ratio },
    goals,
    absolute: { readyMs, ...figures },
    shape,
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
