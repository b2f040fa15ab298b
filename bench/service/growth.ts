import { connect, startProcess } from "./api";
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

/** What an API process that answers takes in memory, over a store with these events. */
export async function memoryOfApi(
  server: string,
  events: readonly WireEvent[],
  shape: Shape,
): Promise<number> {
  const store = await newDatabase(server, "memory");
  const first = await startProcess("--store", store, "--role", "all");
  const api = connect(first);
  const { datasetId } = await uploaded(api, events);
  const project = await Project.create(api, datasetId, shape);
  const { modelId } = await project.train(await project.algorithm(fixed));
  await project.deploy(modelId);
  await first.kill();
  // One that has done nothing else.
  const fresh = await startProcess("--store", store, "--role", "api");
  const own = connect(fresh);
  for (let user = 0; user < shape.users; user += 16) {
    const users = Array.from({ length: 16 }, (_, at) => user + at);
    await Promise.all(users.map((each) => ask(own, `/serving/${project.id}`, each)));
  }
  const { memory_bytes } = await own.status();
  await fresh.kill();
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
  const workers = [await startWorker()];
  const api = connect(service);
  const { datasetId } = await uploaded(api, events);
  const project = await Project.create(api, datasetId, shape);
  const algorithm = await project.algorithm(fixed);
  const secondsOfAll = async () => {
    const began = performance.now();
    await Promise.all(Array.from({ length: trainings }, () => project.train(algorithm)));
    return (performance.now() - began) / 1000;
  };
  await project.train(algorithm);
  const alone = await secondsOfAll();
  workers.push(await startWorker());
  const together = await secondsOfAll();
  for (const each of [service, ...workers]) await each.kill();
  return alone / together;
}
