import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uploadedEvents } from "./large/events";
import { recallOf } from "./large/recall";
import { goal, report } from "./report/report";
import { type Api, connect, startProcess, watched } from "./service/api";
import { inChild } from "./service/child";
import type { FirstAnswers } from "./service/first-load";
import { ask } from "./service/load";
import { Project } from "./service/project";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shape = { users: 300_000 * scale, items: 1_000_000 * scale, eventsOfUser: 10 };
/** Number of users whose lists are compared with exact ones, and number of users in the measurement of speed. */
const [compared, measured] = [500, 10_000];

/** Measures a service with a million items. */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-large-"));
  const service = await startProcess("--data", directory, "--plan-shards", "100");
  try {
    const api = connect(service);
    const project = await Project.create(api, await uploadedEvents(api, shape), {
      users: shape.users,
      items: 0,
    });
    const algorithm = await project.algorithm({});
    const { result: training, peakBytes } = await watched(api, () => project.train(algorithm));
    const { servingUri } = await project.deploy(training.modelId);
    const load = join(__dirname, "service", "first-load.ts");
    const answers = await inChild<FirstAnswers>(load, servingUri, service.key, String(measured), "unpaced");
    const { memory_bytes: memoryBytes } = await api.status();
    const lists = await listsOf(api, new URL(servingUri).pathname);
    const recall = await recallOf(directory, training.modelId, lists);
    conclude({
      trainingSeconds: training.seconds,
      trainingPeakBytes: peakBytes,
      chosenParameters: (training.data as { chosen_parameters: { dimensions: number } }).chosen_parameters,
      ...answers,
      memoryBytes,
      recall,
    });
  } finally {
    await service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Returns the lists of a sample of users, evenly spread over all users. */
async function listsOf(api: Api, serving: string): Promise<Map<string, string[]>> {
  const lists = new Map<string, string[]>();
  for (let at = 0; at < compared; at++) {
    const user = Math.floor((at * shape.users) / compared);
    const { results } = (await ask(api, serving, user)) as { results: { item: { item_id: string } }[] };
    lists.set(
      `u${user}`,
      results.map(({ item }) => item.item_id),
    );
  }
  return lists;
}

interface Figures extends FirstAnswers {
  readonly trainingSeconds: number;
  readonly trainingPeakBytes: number;
  readonly chosenParameters: { readonly dimensions: number };
  readonly memoryBytes: number;
  readonly recall: number;
}

function conclude(figures: Figures): void {
  report("large", {
    ratios: { recall: figures.recall },
    goals: [
      goal("answers per second", "≥", 1000, figures.answersPerSecond),
      goal("recall@10 against the exact list", "≥", 0.98, figures.recall),
      goal("memory in service (MB)", "≤", 1500, figures.memoryBytes / 1e6),
      goal("training (s)", "≤", 120, figures.trainingSeconds),
      goal("dimensions of the vectors", "≥", 64, figures.chosenParameters.dimensions),
    ],
    absolute: { figures },
    shape,
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
