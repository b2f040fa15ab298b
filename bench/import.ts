import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../contract";
import { writeEvents } from "./import/events-file";
import { goal, report } from "./report/report";
import { type Api, connect, type ServiceProcess, startProcess } from "./service/api";
import { inChild } from "./service/child";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { events: 1_000_000 * scale, few: 100_000 * scale, many: 5_000_000 * scale, rounds: 2 };
const main = join(__dirname, "..", "dist", "cli", "main.js");

/** The result of one run of the command. */
interface Imported {
  readonly seconds: number;
  readonly peakMemoryBytes: number;
  readonly sentCount: number;
}

/** Alternates between the two, so other work on the machine affects both. */
async function bench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  const service = await startProcess("--data", join(directory, "data"));
  try {
    const file = (name: string) => join(directory, `${name}.ndjson`);
    for (const name of ["events", "few", "many"] as const) await writeEvents(file(name), shape[name]);
    const api = connect(service);
    const into = (name: string) => importEvents(directory, service, file(name));
    await into("few")(await dataset(api, shape.few));

    const bareSeconds: number[] = [];
    const imports: Imported[] = [];
    let last = "";
    for (let round = 0; round < shape.rounds; round++) {
      bareSeconds.push(await bare(file("events"), service, await dataset(api, shape.events)));
      last = await dataset(api, shape.events);
      imports.push(await into("events")(last));
    }
    const again = await into("events")(last);
    const few = await into("few")(await dataset(api, shape.few));
    const many = await into("many")(await dataset(api, shape.many));
    conclude({ bareSeconds, imports, again, few, many });
  } finally {
    service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function dataset(api: Api, events: number): Promise<string> {
  const num_shards = Math.ceil(events / limits.recordsPerShard);
  const reply = await api.call("/create-event-dataset", { name: "bench", num_shards });
  return reply.event_dataset_id as string;
}

function bare(file: string, { url, key }: ServiceProcess, datasetId: string): Promise<number> {
  return inChild(join(__dirname, "import", "bare.ts"), file, url, key, datasetId);
}

/** Runs the command as users do. A preloaded script prints its peak memory. */
function importEvents(directory: string, { url, key }: ServiceProcess, file: string) {
  const peakFile = join(directory, "peak");
  const preload = join(directory, "peak.cjs");
  // Not maxRSS, which includes the memory that the parent process had when it started this one.
  const peak = `/VmHWM:\\s+(\\d+)/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1]`;
  const write = `require("fs").writeFileSync(${JSON.stringify(peakFile)}, ${peak})`;
  writeFileSync(preload, `process.on("exit", () => ${write});`);
  const env = {
    ...process.env,
    XDG_STATE_HOME: join(directory, "state"),
    RECOMMENDER_BASE_URL: url,
    RECOMMENDER_API_KEY: key,
    RECOMMENDER_TOKEN_URL: `${url}/oauth/token`,
    RECOMMENDER_CLIENT_ID: "bench",
    RECOMMENDER_CLIENT_SECRET: key,
  };
  return async (datasetId: string): Promise<Imported> => {
    const began = performance.now();
    const command = ["--require", preload, main, "import", "events", file, "--dataset", datasetId, "--json"];
    const child = spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    child.stdout.on("data", (text) => {
      stdout += text;
    });
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`The import exited with code ${code}: ${stderr}`);
    const seconds = (performance.now() - began) / 1000;
    const { sentCount } = JSON.parse(stdout) as { sentCount: number };
    return { seconds, sentCount, peakMemoryBytes: Number(readFileSync(peakFile, "utf8")) * 1024 };
  };
}

function conclude(runs: {
  readonly bareSeconds: readonly number[];
  readonly imports: readonly Imported[];
  readonly again: Imported;
  readonly few: Imported;
  readonly many: Imported;
}): void {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const importSeconds = sum(runs.imports.map(({ seconds }) => seconds));
  const ratio = sum(runs.bareSeconds) / importSeconds;
  const goals = [
    goal("import through the command / bare load generator", "≥", 0.7, ratio),
    goal(`peak memory with ${shape.few} rows (MB)`, "<", 250, runs.few.peakMemoryBytes / 1e6),
    goal(`peak memory with ${shape.many} rows (MB)`, "<", 250, runs.many.peakMemoryBytes / 1e6),
    goal("records sent by a second import", "=", 0, runs.again.sentCount),
  ];
  const rows = shape.events * shape.rounds;
  report("import", {
    ratios: {
      importOverBare: ratio,
      memoryManyOverFew: runs.many.peakMemoryBytes / runs.few.peakMemoryBytes,
    },
    goals,
    absolute: {
      importRowsPerSecond: rows / importSeconds,
      bareRowsPerSecond: rows / sum(runs.bareSeconds),
      secondImportSeconds: runs.again.seconds,
      manyRowsPerSecond: shape.many / runs.many.seconds,
      ...runs,
    },
    shape,
  });
}

bench().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
