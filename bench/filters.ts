import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { evaluations } from "./filters/evaluation";
import type { FilterAnswers } from "./filters/load";
import { attributesOf, type Shape } from "./filters/shop";
import { uploadedEvents } from "./large/events";
import { goal, report } from "./report/report";
import { connect, startProcess } from "./service/api";
import { inChild } from "./service/child";
import { Project } from "./service/project";

const scale = Number(process.env.BENCH_SCALE ?? 1);
const shapes: Readonly<Record<"shop" | "large", Shape>> = {
  shop: { users: 20_000 * scale, items: 40_000 * scale, eventsOfUser: 20 },
  large: { users: 300_000 * scale, items: 1_000_000 * scale, eventsOfUser: 10 },
};
/** Parameters of a usual size. They do not change the cost of filters, and a parameter search would take longer. */
const parameters = { dimensions: 64, epochs: 3, regularization: 0.01, alpha: 0.1 };
/** Users in the measurement of speed. */
const measured = 10_000;

/**
 * Measures calls with a filter that matches 1 % of the items, similar items, and the evaluation of expressions. With
 * `--shop`, leaves out the large catalogue and writes nothing.
 */
async function main(): Promise<void> {
  const evaluated = await evaluations();
  const shop = await measure(shapes.shop);
  if (process.argv.includes("--shop")) return console.log(JSON.stringify({ evaluated, shop }, null, 2));
  const large = await measure(shapes.large);
  const ratioOf = ({ filteredP99Ms, plainP99Ms }: FilterAnswers) => filteredP99Ms / plainP99Ms;
  const slowest = Math.max(...evaluated.map(({ p99Ms }) => p99Ms));
  const size = (shape: Shape) => shape.items.toLocaleString("en");
  report("filters", {
    ratios: { shop: ratioOf(shop), large: ratioOf(large) },
    goals: [
      goal(`${size(shapes.shop)} items: p99 with a filter / without`, "≤", 1.5, ratioOf(shop)),
      goal(`${size(shapes.large)} items: p99 with a filter / without`, "≤", 2, ratioOf(large)),
      goal(`${size(shapes.shop)} items: similar-item answers per second`, "≥", 2000, shop.similarPerSecond),
      goal("expression over 100,000 items, p99 of the slowest (ms)", "≤", 5, slowest),
    ],
    absolute: { shop, large, evaluations: evaluated },
    shape: shapes,
  });
}

async function measure(shape: Shape): Promise<FilterAnswers> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-filters-"));
  const service = await startProcess("--data", directory, "--plan-shards", "100");
  try {
    const api = connect(service);
    const datasetId = await uploadedEvents(api, shape);
    const project = await Project.create(api, datasetId, shape, attributesOf);
    const { modelId } = await project.train(await project.algorithm(parameters));
    const { servingUri } = await project.deploy(modelId);
    const users = Math.min(measured, shape.users);
    const load = join(__dirname, "filters", "load.ts");
    return await inChild<FilterAnswers>(load, servingUri, service.key, String(users), String(shape.items));
  } finally {
    await service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
