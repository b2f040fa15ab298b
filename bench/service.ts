import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goal, report } from "./report/report";
import { type Api, connect, type ServiceProcess, startProcess } from "./service/api";
import { inChild } from "./service/child";
import { generateEvents, type WireEvent } from "./service/events";
import type { Answered } from "./service/load";
import { upload, upsertBodies } from "./service/upload";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: 6040, items: 3700, events: Math.round(1_000_000 * scale) };

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  try {
    const events = generateEvents(shape);
    const before = await bareRate(join(folder, "before.db"), events.length);
    const service = await startProcess(join(folder, "data"));
    const api = connect(service);
    const { datasetId, taken } = await ingest(api, events);
    // Measured on both sides of the service's turn, and the better counts: other work on the machine must not flatter us.
    const after = await bareRate(join(folder, "after.db"), events.length);
    const served = await serve(service, api, datasetId);
    const figures = { bareRowsPerSecond: Math.max(before, after), ...taken, ...served };
    service.kill();
    conclude(service.readyMs, figures);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Rows per second of a loop that does nothing but write them, in a process of its own. */
function bareRate(file: string, count: number): Promise<number> {
  return inChild(join(__dirname, "service", "bare.ts"), file, String(count));
}

async function ingest(api: Api, events: readonly WireEvent[]) {
  const { event_dataset_id } = await api.call("POST", "/create-event-dataset", {
    name: "events",
    num_shards: 20,
  });
  const datasetId = event_dataset_id as string;
  const bodies = upsertBodies(
    datasetId,
    events.map((event) => JSON.stringify(event)),
  );
  const { result: seconds, peakBytes } = await watched(api, () => upload(api, bodies));
  return { datasetId, taken: { rowsPerSecond: events.length / seconds, peakMemoryBytes: peakBytes } };
}

/** The most memory that the service has during some work, seen twice a second. */
async function watched<T>(api: Api, work: () => Promise<T>): Promise<{ result: T; peakBytes: number }> {
  let peakBytes = 0;
  const watch = setInterval(async () => {
    peakBytes = Math.max(peakBytes, (await api.status()).memory_bytes);
  }, 500);
  const result = await work().finally(() => clearInterval(watch));
  return { result, peakBytes };
}

async function serve(service: ServiceProcess, api: Api, datasetId: string) {
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
    event_dataset_id: datasetId,
    target_event_type: "watch",
  });
  const { algorithm_id } = await api.call("POST", "/create-algorithm", {
    project_id,
    name: "g1",
    algorithm_type: "G1",
    algorithm_parameters: {},
  });
  const { result: training, peakBytes } = await watched(api, async () =>
    api.job(
      project_id,
      await api.call("POST", "/submit-training-job", { project_id, algorithm_id, name: "m" }),
    ),
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
  const load = join(__dirname, "service", "load.ts");
  const answered = await inChild<Answered>(load, service.url, service.key, String(shape.users));
  return {
    trainingSeconds: training.seconds,
    trainingPeakMemoryBytes: peakBytes,
    deploymentSeconds: deployment.seconds,
    ...answered,
  };
}

function conclude(
  readyMs: number,
  figures: Awaited<ReturnType<typeof ingest>>["taken"] &
    Awaited<ReturnType<typeof serve>> & { bareRowsPerSecond: number },
): void {
  const ratio = figures.rowsPerSecond / figures.bareRowsPerSecond;
  const goals = [
    goal("upsert rate over HTTP / bare loop", "≥", 0.5, ratio),
    goal("peak memory while upserting (MB)", "<", 600, figures.peakMemoryBytes / 1e6),
    goal("recommendations per second", "≥", 3000, figures.answersPerSecond),
    goal(`p99 at ${figures.pacedPerSecond} per second (ms)`, "<", 20, figures.p99Ms),
    goal("training (s)", "<", 60, figures.trainingSeconds),
    goal("peak memory while training (MB)", "<", 600, figures.trainingPeakMemoryBytes / 1e6),
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
