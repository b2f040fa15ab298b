import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coldItems, coldUsers } from "./quality/cold";
import { ease, graphFilter, implicitAls } from "./quality/contenders";
import { type DataSet, movieLens, otherSets } from "./quality/data";
import { givenFiles } from "./quality/files";
import { measureGiven } from "./quality/given";
import { cut, definitions, mean, popularity, type Quality, quality } from "./quality/measure";
import { ranked } from "./quality/ranker";
import { Recommender } from "./quality/recommender";
import { holdOutPairs } from "./quality/split";
import { goal, report } from "./report/report";
import { type ServiceProcess, startProcess } from "./service/api";

const heldOutShare = 0.2;
/** Random splits to average over. The ratios of a single split vary by 2 %. BENCH_DIVISIONS=1 uses only one. */
const splits = [1, 2, 3, 4, 5].slice(0, Number(process.env.BENCH_DIVISIONS ?? 5));

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-bench-"));
  const service = await startProcess("--data", join(directory, "data"), "--plan-shards", "10000");
  try {
    const files = givenFiles(process.argv.slice(2));
    if (files) return await measureGiven(files, service);
    const films = await movieLens();
    const recommender = await Recommender.of(films, service);
    const warm = await compare(films, recommender, splits);
    const latest = await ranked(films, recommender);
    const cold = { users: await coldUsers(films, recommender), items: await coldItems(films, recommender) };
    await recommender.close();
    // Datasets of different kinds show whether a choice that helps on one of them hurts on another.
    const others = [];
    for (const other of await otherSets()) others.push(await alone(other, service));
    conclude(warm, latest, cold, others);
  } finally {
    service.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function alone(of: DataSet, service: ServiceProcess) {
  const recommender = await Recommender.of(of, service);
  return compare(of, recommender, splits).finally(() => recommender.close());
}

const contenders = ["service", "popularity", "implicitAls", "graphFilter", "ease"] as const;
const others = contenders.slice(1);
type Means = Record<(typeof contenders)[number], Quality | null>;

/** Measures the service and the other algorithms on the same splits. Returns the means and the values of each split. */
async function compare(of: DataSet, recommender: Recommender, seeds: readonly number[]) {
  const each: ({ seed: number } & Awaited<ReturnType<typeof compareOn>>)[] = [];
  for (const seed of seeds) each.push({ seed, ...(await compareOn(of, recommender, seed)) });
  const means = Object.fromEntries(
    contenders.map((name) => {
      const measured = each.flatMap((split) => split[name] ?? []);
      if (measured.length === 0) return [name, null];
      return [
        name,
        {
          recall20: mean(measured.map(({ recall20 }) => recall20)),
          ndcg20: mean(measured.map(({ ndcg20 }) => ndcg20)),
        },
      ];
    }),
  ) as Means & { service: Quality };
  console.log(`${of.name}, ${seeds.length === 1 ? "one division" : `mean of ${seeds.length} divisions`}`);
  console.table(
    Object.fromEntries(
      contenders.flatMap((name) => {
        const found = means[name];
        return found
          ? [[name, { "Recall@20": rounded(found.recall20), "NDCG@20": rounded(found.ndcg20) }]]
          : [];
      }),
    ),
  );
  const shape = { users: of.users.size, items: of.items.size, pairs: of.pairs.length };
  return { name: of.name, shape, divisions: seeds.length, ...means, splits: each };
}

async function compareOn(of: DataSet, recommender: Recommender, seed: number) {
  const split = holdOutPairs(of.pairs, heldOutShare, seed);
  const { lists, ...training } = await recommender.learn(of.name, split.train, split.wanted.keys(), cut);
  return {
    service: { ...quality(lists, split.wanted), ...training },
    popularity: quality(popularity(split.train, split.wanted.keys()), split.wanted),
    implicitAls: implicitAls(split),
    graphFilter: graphFilter(split),
    ease: ease(split),
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

type Compared = Awaited<ReturnType<typeof compare>>;

/** Returns the ratio of NDCG@20 to that of another algorithm, or of the best other algorithm. */
function over(of: Compared, ...names: readonly (typeof others)[number][]): number {
  return of.service.ndcg20 / Math.max(...names.flatMap((name) => of[name]?.ndcg20 ?? []));
}

function conclude(
  warm: Compared,
  latest: Awaited<ReturnType<typeof ranked>>,
  cold: { users: Awaited<ReturnType<typeof coldUsers>>; items: Awaited<ReturnType<typeof coldItems>> },
  sets: readonly Compared[],
): void {
  const ratios = {
    ndcgOverImplicit: over(warm, "implicitAls"),
    ndcgOverPopularity: over(warm, "popularity"),
    rankedNdcgOverUnranked: latest.withRanker.ndcg20 / latest.without.ndcg20,
    coldUsersNdcgOverPopularity: cold.users.ndcg20 / cold.users.baseNdcg20,
    coldItemsNdcgOverRandomOrder: cold.items.ndcg20 / cold.items.baseNdcg20,
    ndcgOverBest: Object.fromEntries([warm, ...sets].map((of) => [of.name, over(of, ...others)])),
  };
  const divisions = splits.length === 1 ? "one division" : `mean of ${splits.length} divisions`;
  const goals = [
    goal(`Recall@20, ${divisions}`, "≥", 0.36, warm.service.recall20),
    goal(`NDCG@20, ${divisions}`, "≥", 0.44, warm.service.ndcg20),
    goal("NDCG@20 / implicit ALS, best of its grid", "≥", 1.1, ratios.ndcgOverImplicit),
    ...Object.entries(ratios.ndcgOverBest).map(([name, value]) =>
      goal(`${name}: NDCG@20 / best of the others`, "≥", 1, value),
    ),
    goal("latest fifth: NDCG@20 with ranker / without", "≥", 1.02, ratios.rankedNdcgOverUnranked),
    goal("cold users: NDCG@20 / popularity", ">", 1, ratios.coldUsersNdcgOverPopularity),
    goal("cold items: NDCG@20 / random order", ">", 1, ratios.coldItemsNdcgOverRandomOrder),
  ];
  report("quality", {
    ratios,
    goals,
    absolute: { definitions, ...warm, latest, cold, others: sets },
    rows: [warm, ...sets].map(rowOf),
  });
}

/** Returns the table row of one dataset, with Recall@20 / NDCG@20 of each algorithm. */
function rowOf(of: Compared): Record<string, string> {
  const { users, items, pairs } = of.shape;
  const figures = contenders.map((name) => {
    const found = of[name];
    return [name, found ? `${found.recall20.toFixed(4)} / ${found.ndcg20.toFixed(4)}` : "–"];
  });
  const shape = `${users} × ${items}, ${Math.round(pairs / users)}`;
  return { set: of.name, "users × items, pairs of a user": shape, ...Object.fromEntries(figures) };
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
