import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../tools/postgres/start.js";
import { goal, report } from "./report/report";
import { type Api, connect, type ServiceProcess, startProcess, watched } from "./service/api";
import { inChild, startChild } from "./service/child";
import { newDatabase } from "./service/database";
import { generateEvents, type WireEvent } from "./service/events";
import { firstAnswers } from "./service/first-answers";
import { gainOfWorker, memoryOfApi } from "./service/growth";
import { type Answered, ask } from "./service/load";
import { Project, uploaded } from "./service/project";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: 6040, items: 3700, events: Math.round(1_000_000 * scale) };

/** The target rate of recommendations per second. */
const rates = { embedded: 3000, postgres: 2000 };

/** The memory of an API is measured with all events, and with one event in this many. */
const fewer = 4;

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  const postgres = await startPostgres({ durable: true });
  try {
    const events = generateEvents(shape);
    const embedded = await measure(events, {
      bare: (name) => join(directory, `${name}.db`),
      start: async () => [await startProcess("--data", join(directory, "data"))],
      startEmpty: () => startProcess("--data", join(directory, "again")),
    });
    const store = await newDatabase(postgres.url, "service");
    const shared = await measure(events, {
      bare: (name) => newDatabase(postgres.url, name),
      store,
      start: async () => [
        await startProcess("--store", store, "--role", "api"),
        await startProcess("--store", store, "--role", "worker"),
      ],
      startEmpty: async () =>
        startProcess("--store", await newDatabase(postgres.url, "again"), "--role", "api"),
    });
    const few = events.filter((_, at) => at % fewer === 0);
    const [ofFew = 0, ofAll = 0] = await memoryOfApi(postgres.url, [few, events], shape);
    const gain = await gainOfWorker(postgres.url, few, shape);
    conclude(embedded, shared, { few: ofFew, all: ofAll }, gain, await firstAnswers());
  } finally {
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The storage of one measurement: for the bare loops, and for the service. The first process of the service serves requests. */
interface Turn {
  bare(name: string): Promise<string> | string;
  /** The database that recommendations are read from; undefined if they come from memory. */
  readonly store?: string;
  start(): Promise<ServiceProcess[]>;
  /** Starts a service with separate, empty storage. */
  startEmpty(): Promise<ServiceProcess>;
}

async function measure(events: readonly WireEvent[], { bare, start, startEmpty, store }: Turn) {
  const before = await bareRate(await bare("before"), events.length);
  const readyMs = await readyAfter(start);
  const processes = await start();
  const service = processes[0] as ServiceProcess;
  const api = connect(service);
  const { result: sent, peakBytes: peakMemoryBytes } = await watched(api, () => uploaded(api, events));
  const after = await bareRate(await bare("after"), events.length);
  const empty = await startEmpty();
  const again = await uploaded(connect(empty), events);
  await empty.kill();
  // Alternating measurements, and the better of each counts, so other work on the machine favours neither side.
  const taken = { rowsPerSecond: events.length / Math.min(sent.seconds, again.seconds), peakMemoryBytes };
  const served = await serve(service, api, sent.datasetId, store);
  const { memory_bytes: memoryBytes } = await api.status();
  for (const each of processes) await each.kill();
  const bareRowsPerSecond = Math.max(before, after);
  return { readyMs, memoryBytes, bareRowsPerSecond, ...taken, ...served };
}

/** Returns the median of five starts of the process that serves requests. */
async function readyAfter(start: Turn["start"]): Promise<number> {
  const took: number[] = [];
  while (took.length < 5) {
    const processes = await start();
    took.push(processes[0]?.readyMs as number);
    for (const each of processes) await each.kill();
  }
  return took.sort((a, b) => a - b)[2] as number;
}

/** Returns the rows per second of a loop that only writes them, in a separate process. */
function bareRate(place: string, count: number): Promise<number> {
  return inChild(part("bare"), place, String(count));
}

async function serve(service: ServiceProcess, api: Api, datasetId: string, store = "") {
  const project = await Project.create(api, datasetId, shape);
  const algorithm = await project.algorithm({});
  const { result: training, peakBytes } = await watched(api, () => project.train(algorithm));
  const deployment = await project.deploy(training.modelId);
  const { pathname } = new URL(deployment.servingUri);
  const reply = JSON.stringify(await ask(api, pathname, 0));
  const load = (url: string) =>
    inChild<Answered>(
      part("load"),
      `${url}${pathname}`,
      service.key,
      String(shape.users),
      String(store ? rates.postgres : rates.embedded),
    );
  const answered = await load(service.url);
  const bare = await startChild<string>(part("bare-answers"), reply, store, String(project.id));
  const bareAnswered = await load(bare.message);
  bare.kill();
  return {
    trainingSeconds: training.seconds,
    trainingPeakMemoryBytes: peakBytes,
    deploymentSeconds: deployment.seconds,
    ...answered,
    bareAnswersPerSecond: bareAnswered.answersPerSecond,
    bareAnswersPerCpuSecond: bareAnswered.answersPerCpuSecond,
  };
}

function part(name: string): string {
  return join(__dirname, "service", `${name}.ts`);
}

type Figures = Awaited<ReturnType<typeof measure>>;

function conclude(
  embedded: Figures,
  shared: Figures,
  memory: { readonly few: number; readonly all: number },
  workerGain: number,
  first: Awaited<ReturnType<typeof firstAnswers>>,
): void {
  const memoryGrowth = memory.all / memory.few;
  const answersOverBare = (figures: Figures) => figures.answersPerSecond / figures.bareAnswersPerSecond;
  const ratioOf = (figures: Figures) => figures.rowsPerSecond / figures.bareRowsPerSecond;
  const goals = [
    goal("embedded: upsert rate over HTTP / bare loop", "≥", 0.55, ratioOf(embedded)),
    goal("embedded: peak memory while upserting (MB)", "<", 600, embedded.peakMemoryBytes / 1e6),
    goal("embedded: recommendations per second", "≥", rates.embedded, embedded.answersPerSecond),
    goal("embedded: recommendations / bare answers without a model", "≥", 0.1, answersOverBare(embedded)),
    goal(`embedded: p99 at ${rounded(embedded)} per second (ms)`, "<", 20, embedded.p99Ms),
    goal("embedded: training (s)", "<", 60, embedded.trainingSeconds),
    goal("embedded: peak memory while training (MB)", "<", 600, embedded.trainingPeakMemoryBytes / 1e6),
    goal("embedded: ready after start (ms)", "<", 1000, embedded.readyMs),
    goal("PostgreSQL: ready after start (ms)", "<", 1000, shared.readyMs),
    goal("PostgreSQL: upsert rate over HTTP / bare loop", "≥", 0.5, ratioOf(shared)),
    goal(
      "PostgreSQL: recommendations per second of one process",
      "≥",
      rates.postgres,
      shared.answersPerSecond,
    ),
    goal(
      "PostgreSQL: recommendations / bare answers after the same statement",
      "≥",
      0.3,
      answersOverBare(shared),
    ),
    goal(`PostgreSQL: p99 at ${rounded(shared)} per second (ms)`, "<", 50, shared.p99Ms),
    goal(`PostgreSQL: memory of an API with ${fewer} times the events`, "≤", 1.1, memoryGrowth),
    goal("PostgreSQL: training jobs of two workers with a thread each / of one", "≥", 1.6, workerGain),
    ...first.goals,
  ];
  report("service", {
    ratios: {
      upsertOverBare: ratioOf(embedded),
      upsertOverBareInPostgres: ratioOf(shared),
      answersOverBare: answersOverBare(embedded),
      answersOverBareInPostgres: answersOverBare(shared),
      memoryGrowth,
      workerGain,
      firstAnswerWithMoreUsers: first.ratio,
    },
    goals,
    absolute: { embedded, postgres: shared, apiMemoryBytes: memory, firstAnswers: first.figures },
    shape,
  });
}

function rounded({ pacedPerSecond }: Figures): number {
  return Math.round(pacedPerSecond);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
