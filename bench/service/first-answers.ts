import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goal } from "../report/report";
import { connect, startProcess } from "./api";
import { inChild } from "./child";
import { generateEvents } from "./events";
import type { FirstAnswers } from "./first-load";
import { Project, uploaded } from "./project";

const scale = Number(process.env.BENCH_SCALE ?? 1);
/** As many users, items and events as in a public set of check-ins at places. */
const shape = { users: Math.round(30_000 * scale), items: 41_000, events: Math.round(810_000 * scale) };
/** The cost of an answer is also measured with the number of users divided by this. */
const fewer = 4;

/** Parameters like those that a training chooses for check-ins, but also with the order of events, so all parts count. */
const parameters = {
  dimensions: 128,
  epochs: 5,
  regularization: 0.0024,
  alpha: 0.016,
  regularization_exponent: 1,
  weighting: "log",
  damping: 0.25,
  neighbours: 1,
  popularity_exponent: 0.4,
  order: 1,
};

/** Measures answers for users who are not cached, with all users and with fewer. */
export async function firstAnswers() {
  const few = await measure(fewer);
  const all = await measure(1);
  const ratio = all.cpuMsOfAnswer / few.cpuMsOfAnswer;
  const { paced } = all;
  if (!paced) throw new Error("The load generator did not measure latencies.");
  return {
    figures: { few, all },
    ratio,
    goals: [
      goal("first answers per second", "≥", 2000, all.answersPerSecond),
      goal(`first answers: p99 at ${paced.pacedPerSecond} per second (ms)`, "<", 30, paced.p99Ms),
      goal(`first answers: CPU time with ${fewer} times the users`, "≤", 1.25, ratio),
    ],
  };
}

async function measure(part: number) {
  const directory = mkdtempSync(join(tmpdir(), "recommender-first-"));
  const users = Math.round(shape.users / part);
  const own = { users, items: shape.items, events: Math.round(shape.events / part) };
  const service = await startProcess("--data", directory);
  try {
    const api = connect(service);
    const { datasetId } = await uploaded(api, generateEvents(own));
    const project = await Project.create(api, datasetId, own);
    const { modelId, seconds } = await project.train(await project.algorithm(parameters));
    const { servingUri } = await project.deploy(modelId);
    const load = join(__dirname, "first-load.ts");
    const answers = await inChild<FirstAnswers>(load, servingUri, service.key, String(users));
    return { ...own, trainingSeconds: seconds, memoryBytes: (await api.status()).memory_bytes, ...answers };
  } finally {
    await service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}
