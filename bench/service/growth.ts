import { join } from "node:path";
import { connect, startNode, startProcess } from "./api";
import { newDatabase } from "./database";
import type { WireEvent } from "./events";
import { ask } from "./load";
import { Project, type Shape, uploaded } from "./project";

/** Parameters that leave nothing to be searched for, so that a training always has as much to do. */
const fixed = {
  dimensions: 64,
  epochs: 8,
  regularization: 0.003,
  alpha: 0.3,
  regularization_exponent: 1,
  weighting: "linear",
  damping: 0.5,
  neighbours: 0,
  popularity_exponent: 0.5,
};

/** How often one worker and two are measured right after each other: the middle gain counts, for machines are noisy. */
const turns = 5;

/** Whoever asks more often how jobs stand takes the processors from the workers. */
const pauseMs = 250;

/** What an API process that answers takes in memory, over stores with each of these events. */
export async function memoryOfApi(
  server: string,
  loads: readonly (readonly WireEvent[])[],
  shape: Shape,
): Promise<number[]> {
  const stores: { readonly store: string; readonly projectId: unknown }[] = [];
  for (const events of loads) {
    const store = await newDatabase(server, "memory");
    const service = await startProcess("--store", store, "--role", "all");
    const api = connect(service);
    const { datasetId } = await uploaded(api, events);
    const project = await Project.create(api, datasetId, shape);
    const { modelId } = await project.train(await project.algorithm(fixed));
    await project.deploy(modelId);
    await service.kill();
    stores.push({ store, projectId: project.id });
  }
  return Promise.all(stores.map(({ store, projectId }) => memoryOfFresh(store, projectId, shape.users)));
}

/** How often a process answers each user before its memory is measured. */
const rounds = 3;

/**
 * What a new process takes that has answered each user some times, without garbage: with it, memory tells rather how long
 * ago that was collected. The thread that loaded the deployment has ended.
 */
async function memoryOfFresh(store: string, projectId: unknown, count: number): Promise<number> {
  const collecting = ["--expose-gc", "--require", join(__dirname, "collect-garbage.cjs")];
  const service = await startNode(collecting, ["--store", store, "--role", "api"]);
  const api = connect(service);
  await ask(api, `/serving/${projectId}`, 0);
  while ((await api.status()).threads > 0) await new Promise((resolve) => setTimeout(resolve, 500));
  for (let round = 0; round < rounds; round++) {
    for (let user = 0; user < count; user += 16) {
      const users = Array.from({ length: 16 }, (_, at) => (user + at) % count);
      await Promise.all(users.map((each) => ask(api, `/serving/${projectId}`, each)));
    }
    process.kill((await api.status()).pid, "SIGUSR2");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const { memory_bytes } = await api.status();
  await service.kill();
  return memory_bytes;
}

/** How much faster trainings are done by two workers than by one, each with one thread: alone it would take all cores. */
export async function gainOfWorker(
  server: string,
  events: readonly WireEvent[],
  shape: Shape,
  trainings = 6,
): Promise<number> {
  const store = await newDatabase(server, "workers");
  const service = await startProcess("--store", store, "--role", "api");
  const startWorker = () => startProcess("--store", store, "--role", "worker", "--threads", "1");
  const worker = await startWorker();
  const api = connect(service);
  const { datasetId } = await uploaded(api, events);
  const project = await Project.create(api, datasetId, shape);
  const algorithm = await project.algorithm(fixed);
  const secondsOf = async (count: number) => {
    const began = performance.now();
    await Promise.all(Array.from({ length: count }, () => project.train(algorithm, pauseMs)));
    return (performance.now() - began) / 1000;
  };
  await project.train(algorithm);
  const gains: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const alone = await secondsOf(trainings);
    const second = await startWorker();
    // What has only just started runs slower than what has trained before.
    await secondsOf(2);
    gains.push(alone / (await secondsOf(trainings)));
    await second.kill();
  }
  for (const each of [service, worker]) await each.kill();
  return gains.sort((a, b) => a - b)[Math.floor(turns / 2)] as number;
}
