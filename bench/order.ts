import { type TimedPairs, timedFilms } from "./quality/data";
import { pairsInOrder } from "./quality/files";
import { followers } from "./quality/followers";
import { popularity, qualityAt } from "./quality/measure";
import { leaveLastOut } from "./quality/split";
import { chains, variants } from "./quality/variants";
import { goal, report } from "./report/report";

const cut = 10;

/** Measures what the order of events adds to a model: the last item of each user is held out. */
async function main(): Promise<void> {
  const measured = [await timedFilms(), { name: "chains", pairs: pairsInOrder(chains()) }].map(measure);
  const overWithout = ({ found }: (typeof measured)[number]) => found.all.ndcg / found["without order"].ndcg;
  const overFollowers = ({ found }: (typeof measured)[number]) => found.all.ndcg / found.followers.ndcg;
  const byName = (ratio: (of: (typeof measured)[number]) => number) =>
    Object.fromEntries(measured.map((of) => [of.name, ratio(of)]));
  report("order", {
    ratios: { ndcgOverWithoutOrder: byName(overWithout), ndcgOverFollowers: byName(overFollowers) },
    goals: measured.flatMap((of) => [
      goal(`${of.name}: NDCG@10 / without order`, "≥", 0.995, overWithout(of)),
      goal(`${of.name}: NDCG@10 / pairs of successive items alone`, "≥", 1.03, overFollowers(of)),
    ]),
    absolute: { measured },
    rows: measured.map(({ name, found }) => ({
      "HR@10 / NDCG@10": name,
      ...Object.fromEntries(
        Object.entries(found).map(([label, { recall, ndcg }]) => [
          label,
          `${recall.toFixed(4)} / ${ndcg.toFixed(4)}`,
        ]),
      ),
    })),
  });
}

function measure({ name, pairs }: TimedPairs) {
  const split = leaveLastOut(pairs);
  const { lists, order, seconds } = variants(split, cut);
  const found = {
    all: qualityAt(lists.all, split.wanted, cut),
    "without order": qualityAt(lists.withoutOrder, split.wanted, cut),
    "without recency": qualityAt(lists.withoutRecency, split.wanted, cut),
    "without neighbours": qualityAt(lists.withoutNeighbours, split.wanted, cut),
    followers: qualityAt(followers(split, cut), split.wanted, cut),
    popularity: qualityAt(popularity(split.train, split.wanted.keys()), split.wanted, cut),
  };
  console.table(found);
  return { name, users: split.wanted.size, pairs: split.train.length, order, seconds, found };
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
