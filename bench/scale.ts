import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "../tools/postgres/start.js";
import { goal, report } from "./report/report";
import { measure, shape } from "./scale/measure";
import { type ServiceProcess, startProcess } from "./service/api";
import { newDatabase } from "./service/database";

const [few, some, many] = [1, 5, 10];

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-scale-"));
  const postgres = await startPostgres({ durable: true });
  try {
    const figures: Figures[] = [];
    for (const parts of [few, some, many]) {
      const data = join(directory, `data-${parts}`);
      const service = await startProcess("--data", data, "--plan-shards", String(20 * parts));
      figures.push(await ended(service, measure("embedded", service, parts), async () => bytesIn(data)));
      rmSync(data, { recursive: true });
    }
    const store = await newDatabase(postgres.url, "scale");
    const shared = await startProcess("--store", store, "--role", "all", "--plan-shards", String(20 * many));
    figures.push(await ended(shared, measure("PostgreSQL", shared, many), () => bytesOf(store)));
    conclude(figures);
  } finally {
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Figures = Awaited<ReturnType<typeof measure>> & { readonly storedBytes: number };

/** Stops the service, which moves the write-ahead log into the database, and measures the size of the database. */
async function ended(
  service: ServiceProcess,
  work: ReturnType<typeof measure>,
  storedBytes: () => Promise<number>,
): Promise<Figures> {
  const figures = await work.finally(() => service.kill());
  const filled = { ...figures, storedBytes: await storedBytes() };
  console.log(JSON.stringify(filled));
  return filled;
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".db"))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

async function bytesOf(store: string): Promise<number> {
  const client = new Client(store);
  await client.connect();
  const { rows } = await client.query("select pg_database_size(current_database()) as size");
  await client.end();
  return Number(rows[0].size);
}

function conclude(figures: readonly Figures[]): void {
  const [one, five, ten] = figures as [Figures, Figures, Figures];
  const ratios = {
    uploadRate: ten.rowsPerSecond / one.rowsPerSecond,
    uploadMemory: ten.uploadPeakBytes / one.uploadPeakBytes,
    answers: ten.answersPerSecond / one.answersPerSecond,
    trainingSeconds: ten.trainingSeconds / one.trainingSeconds,
  };
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  report("scale", {
    ratios,
    goals: [
      goal("training of 5 million events (s)", "≤", 60, five.trainingSeconds),
      goal("dimensions of its vectors", "≥", 64, five.dimensions),
      goal("upload rate with 10 million events / with 1 million", "≥", 0.7, ratios.uploadRate),
      goal("memory of the upload of 10 million events / of 1 million", "≤", 1.5, ratios.uploadMemory),
      goal("answers per second with 10 million events / with 1 million", "≥", 0.7, ratios.answers),
    ],
    absolute: { figures },
    shape,
    rows: figures.map((of) => ({
      events: `${of.events / 1e6} million, ${of.where}`,
      "upload (rows/s, memory)": `${Math.round(of.rowsPerSecond)}, ${megabytes(of.uploadPeakBytes)}`,
      database: megabytes(of.storedBytes),
      training: `${of.trainingSeconds.toFixed(1)} s, ${megabytes(of.trainingPeakBytes)}`,
      dimensions: String(of.dimensions),
      "learned from": `${Math.round((100 * of.learnedOnUsers) / of.users)} % of the users`,
      "answers/s": String(Math.round(of.answersPerSecond)),
      "p99 (ms)": of.p99Ms.toFixed(1),
      "memory in service": megabytes(of.servingBytes),
    })),
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
