import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coldItems, coldUsers } from "./quality/cold";
import { type DataSet, movieLens, otherSets } from "./quality/data";
import { implicitAls } from "./quality/implicit";
import { cut, definitions, popularity, quality } from "./quality/measure";
import { Recommender } from "./quality/recommender";
import { holdOutPairs } from "./quality/split";
import { goal, report } from "./report/report";
import { type ServiceProcess, startProcess } from "./service/api";

const heldOutShare = 0.2;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  const service = await startProcess(join(folder, "data"));
  try {
    const films = await movieLens();
    const recommender = await Recommender.of(films, service);
    const warm = await compare(films, recommender);
    const cold = { users: await coldUsers(films, recommender), items: await coldItems(films, recommender) };
    await recommender.close();
    // Sets that no constant was tuned on: they have no goals.
    const others = [];
    for (const other of await otherSets()) others.push(await alone(other, service));
    conclude(warm, cold, others);
  } finally {
    service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function alone(of: DataSet, service: ServiceProcess) {
  const recommender = await Recommender.of(of, service);
  return compare(of, recommender).finally(() => recommender.close());
}

/** The service, popularity and implicit on one and the same split. */
async function compare(of: DataSet, recommender: Recommender) {
  const split = holdOutPairs(of.pairs, heldOutShare);
  const { lists, ...training } = await recommender.learn(of.name, split.train, split.wanted.keys(), cut);
  const measured = {
    shape: { users: of.users.size, items: of.items.size, pairs: of.pairs.length },
    service: { ...quality(lists, split.wanted), ...training },
    popularity: quality(popularity(split.train, split.wanted.keys()), split.wanted),
    implicitAls: implicitAls(split),
  };
  console.log(of.name);
  console.table(
    Object.fromEntries(
      (["service", "popularity", "implicitAls"] as const).map((name) => {
        const { recall20, ndcg20 } = measured[name];
        return [name, { "Recall@20": rounded(recall20), "NDCG@20": rounded(ndcg20) }];
      }),
    ),
  );
  return { name: of.name, ...measured };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

function conclude(
  warm: Awaited<ReturnType<typeof compare>>,
  cold: { users: Awaited<ReturnType<typeof coldUsers>>; items: Awaited<ReturnType<typeof coldItems>> },
  others: readonly Awaited<ReturnType<typeof compare>>[],
): void {
  const over = (of: typeof warm, other: "popularity" | "implicitAls") => of.service.ndcg20 / of[other].ndcg20;
  const ratios = {
    ndcgOverImplicit: over(warm, "implicitAls"),
    ndcgOverPopularity: over(warm, "popularity"),
    coldUsersNdcgOverPopularity: cold.users.ndcg20 / cold.users.baseNdcg20,
    coldItemsNdcgOverRandomOrder: cold.items.ndcg20 / cold.items.baseNdcg20,
    others: Object.fromEntries(
      others.map((of) => [
        of.name,
        { ndcgOverImplicit: over(of, "implicitAls"), ndcgOverPopularity: over(of, "popularity") },
      ]),
    ),
  };
  const goals = [
    goal("Recall@20", "≥", 0.36, warm.service.recall20),
    goal("NDCG@20", "≥", 0.44, warm.service.ndcg20),
    goal("NDCG@20 / implicit ALS, best of its grid", "≥", 1.1, ratios.ndcgOverImplicit),
    goal("cold users: NDCG@20 / popularity", ">", 1, ratios.coldUsersNdcgOverPopularity),
    goal("cold items: NDCG@20 / random order", ">", 1, ratios.coldItemsNdcgOverRandomOrder),
  ];
  report("quality", {
    ratios,
    goals,
    absolute: { definitions, ...warm, cold, others },
  });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
