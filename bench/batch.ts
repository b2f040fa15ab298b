import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { limits } from "../contract";
import { uploadedEvents } from "./large/events";
import { goal, report } from "./report/report";
import { type Api, connect, startProcess } from "./service/api";
import { Project } from "./service/project";

const scale = Number(process.env.BENCH_SCALE ?? 1);
/** Users with events, from whom the model learns. All other users only have a record. */
const learned = { users: 100_000 * scale, items: 20_000, eventsOfUser: 5 };
/** Numbers of users to compare. The last file is ten times as large as the first. */
const counts = [100_000 * scale, 1_000_000 * scale] as const;
const shape = { ...learned, userShards: Math.ceil(counts[1] / limits.recordsPerShard) };
/** Parameters of a usual size, because a search for the best ones would take longer than the jobs. */
const parameters = { dimensions: 64, epochs: 3, regularization: 0.01, alpha: 0.1 };

/** Cost of a recommendation job. */
interface Cost {
  readonly users: number;
  readonly seconds: number;
  readonly fileBytes: number;
  /** Memory of the process before the job, and its maximum while it ran. */
  readonly memoryBytes: number;
  readonly peakBytes: number;
}

/** Measures the time and the memory of jobs that recommend items to many users. */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-batch-"));
  const start = () => startProcess("--data", directory, "--plan-shards", "100");
  let service = await start();
  try {
    let api = connect(service);
    const project = await Project.create(api, await uploadedEvents(api, shape), shape);
    const { modelId } = await project.train(await project.algorithm(parameters));
    const costs: Cost[] = [];
    let from = 0;
    for (const count of counts) {
      await uploadUsers(api, project, from, count);
      from = count;
      // An upload leaves memory that the process does not give back, so each job runs in a new process.
      await service.kill();
      service = await start();
      api = connect(service);
      costs.push(await costOf(api, project, modelId));
    }
    conclude(costs as [Cost, Cost]);
  } finally {
    await service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function uploadUsers(api: Api, { userDatasetId }: Project, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += limits.recordsPerUpsert) {
    const users = Array.from({ length: Math.min(limits.recordsPerUpsert, to - first) }, (_, at) => ({
      user_id: `u${first + at}`,
      attributes: { age: (first + at) % 80 },
    }));
    const reply = await api.call("/upsert-dataset-users", { user_dataset_id: userDatasetId, users });
    const { length } = reply.failed_ids as string[];
    if (length > 0) throw new Error(`The service rejected ${length} users.`);
  }
}

async function costOf(api: Api, project: Project, modelId: string): Promise<Cost> {
  const { pid } = await api.status();
  // Resets the memory maximum that the kernel records for a process.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const memoryBytes = maxMemoryOf(pid);
  const request = { project_id: project.id, name: "mail", model_id: modelId, attributes: ["title"] };
  const submitted = await api.call("/submit-recommendation-job", request);
  const { result, seconds } = await api.job(project.id, submitted);
  const peakBytes = maxMemoryOf(pid);
  const { download_url: url } = result as { download_url: string };
  return { ...(await readFile(url)), seconds, memoryBytes, peakBytes };
}

/** Returns the maximum of the resident memory of a process. */
function maxMemoryOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

/** Counts the users in a file. Throws if one is missing or appears twice. */
async function readFile(url: string): Promise<Pick<Cost, "users" | "fileBytes">> {
  const { body } = await fetch(url);
  let [users, fileBytes, last] = [0, 0, ""];
  for await (const line of createInterface({ input: Readable.fromWeb(body as never) })) {
    const { user_id: id } = JSON.parse(line) as { user_id: string };
    if (id <= last) throw new Error(`${id} comes after ${last}, so it may be listed twice.`);
    last = id;
    users++;
    fileBytes += Buffer.byteLength(line) + 1;
  }
  return { users, fileBytes };
}

function conclude([few, many]: [Cost, Cost]): void {
  const growth = ({ peakBytes, memoryBytes }: Cost) => peakBytes - memoryBytes;
  const users = counts[1].toLocaleString("en");
  report("batch", {
    ratios: { memory: many.peakBytes / few.peakBytes, file: many.fileBytes / few.fileBytes },
    goals: [
      goal("users in the file", "=", counts[1], many.users),
      goal(`memory for ${users} users / for a tenth`, "≤", 1.5, many.peakBytes / few.peakBytes),
      goal(`additional memory for ${users} users / for a tenth`, "≤", 1.5, growth(many) / growth(few)),
      goal(`additional memory for ${users} users (MB)`, "≤", 500, growth(many) / 1e6),
      goal("users per second", "≥", 2000, many.users / many.seconds),
    ],
    absolute: { few, many },
    shape: { ...shape, counts },
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
