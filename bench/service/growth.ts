import { join } from "node:path";
import { connect, startNode, startProcess } from "./api";
import { newDatabase } from "./database";
import type { WireEvent } from "./events";
import { ask } from "./load";
import { Project, type Shape, uploaded } from "./project";

/** Parameters without a search, so all trainings take equally long. */
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

/** The number of alternating measurements of one worker and two. The median gain counts, because machines are noisy. */
const turns = 5;

/** Polling jobs more often would take CPU time from the workers. */
const pauseMs = 250;

/** Returns the memory of an API process that serves requests, for a database with each of these sets of events. */
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

/** The number of requests for each user before memory is measured. */
const rounds = 3;

/**
 * Returns the memory of a new process after some requests for each user and a garbage collection. Otherwise memory would
 * depend on the time of the last collection. The thread that loaded the deployment has exited by then.
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

/** Returns how much faster two workers complete trainings than one. Each has one thread, because one worker could use all cores. */
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
    // A process is slower until it has run one training.
    await secondsOf(2);
    gains.push(alone / (await secondsOf(trainings)));
    await second.kill();
  }
  for (const each of [service, worker]) await each.kill();
  return gains.sort((a, b) => a - b)[Math.floor(turns / 2)] as number;
}
