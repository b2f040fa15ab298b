import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coldItems, coldUsers } from "./quality/cold";
import { type DataSet, movieLens, otherSets } from "./quality/data";
import { implicitAls } from "./quality/implicit";
import { cut, definitions, mean, popularity, type Quality, quality } from "./quality/measure";
import { Recommender } from "./quality/recommender";
import { holdOutPairs } from "./quality/split";
import { goal, report } from "./report/report";
import { type ServiceProcess, startProcess } from "./service/api";

const heldOutShare = 0.2;
/** One split alone moves the ratio to others by 2 % either way. */
const splits = [1, 2, 3, 4, 5];

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  const service = await startProcess(join(folder, "data"));
  try {
    const films = await movieLens();
    const recommender = await Recommender.of(films, service);
    const warm = await compare(films, recommender, splits);
    const cold = { users: await coldUsers(films, recommender), items: await coldItems(films, recommender) };
    await recommender.close();
    // Sets of other kinds, so that what is chosen for one shows on the others: they have no goals.
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
  return compare(of, recommender, splits.slice(0, 1)).finally(() => recommender.close());
}

const contenders = ["service", "popularity", "implicitAls"] as const;

/** The service, popularity and implicit on the same splits: their means, and each split for itself. */
async function compare(of: DataSet, recommender: Recommender, seeds: readonly number[]) {
  const each: ({ seed: number } & Awaited<ReturnType<typeof compareOn>>)[] = [];
  for (const seed of seeds) each.push({ seed, ...(await compareOn(of, recommender, seed)) });
  const means = Object.fromEntries(
    contenders.map((name) => [
      name,
      {
        recall20: mean(each.map((split) => split[name].recall20)),
        ndcg20: mean(each.map((split) => split[name].ndcg20)),
      },
    ]),
  ) as Record<(typeof contenders)[number], Quality>;
  console.log(`${of.name}, ${seeds.length === 1 ? "one split" : `mean of ${seeds.length} splits`}`);
  console.table(
    Object.fromEntries(
      contenders.map((name) => [
        name,
        { "Recall@20": rounded(means[name].recall20), "NDCG@20": rounded(means[name].ndcg20) },
      ]),
    ),
  );
  const shape = { users: of.users.size, items: of.items.size, pairs: of.pairs.length };
  return { name: of.name, shape, ...means, splits: each };
}

async function compareOn(of: DataSet, recommender: Recommender, seed: number) {
  const split = holdOutPairs(of.pairs, heldOutShare, seed);
  const { lists, ...training } = await recommender.learn(of.name, split.train, split.wanted.keys(), cut);
  return {
    service: { ...quality(lists, split.wanted), ...training },
    popularity: quality(popularity(split.train, split.wanted.keys()), split.wanted),
    implicitAls: implicitAls(split),
  };
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
    goal(`Recall@20, mean of ${splits.length} splits`, "≥", 0.36, warm.service.recall20),
    goal(`NDCG@20, mean of ${splits.length} splits`, "≥", 0.44, warm.service.ndcg20),
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
