import type { DataSet } from "./data";
import { cut, quality } from "./measure";
import type { Recommender } from "./recommender";
import { holdOutLatest } from "./split";

/** Measures a model on the latest fifth of each user's items, with and without itself as its ranker. */
export async function ranked(of: DataSet, recommender: Recommender) {
  const { train, wanted } = holdOutLatest(of.pairs, 0.2);
  const deployed = await recommender.deploy(`${of.name}, latest`, train);
  const without = quality(await deployed.ask(wanted.keys(), cut), wanted);
  await deployed.rank();
  const withRanker = quality(await deployed.ask(wanted.keys(), cut), wanted);
  await deployed.end();
  return { without, withRanker, reported: deployed.quality };
}
