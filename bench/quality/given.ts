import type { ServiceProcess } from "../service/api";
import { type GivenFiles, readFiles } from "./files";
import { followers } from "./followers";
import { popularity, qualityAt } from "./measure";
import { Recommender } from "./recommender";

/** Cutoffs of the usual figures: 10 for the next item, 20 for several held-out items. */
const cuts = { sequences: 10, split: 20 } as const;

/** Measures the service with `{}` on given files, next to simple competitors, and prints the figures. */
export async function measureGiven(files: GivenFiles, service: ServiceProcess): Promise<void> {
  const { set, split } = readFiles(files);
  const cut = cuts[files.kind];
  const recommender = await Recommender.of(set, service);
  const { lists, trainingSeconds, chosenParameters } = await recommender.learn(
    set.name,
    split.train,
    split.wanted.keys(),
    cut,
  );
  await recommender.close();
  const contenders = {
    service: lists,
    popularity: popularity(split.train, split.wanted.keys()),
    ...(files.kind === "sequences" && { followers: followers(split, cut) }),
  };
  console.log(JSON.stringify({ trainingSeconds, chosenParameters }));
  console.table(
    Object.fromEntries(
      Object.entries(contenders).map(([name, found]) => {
        const { recall, ndcg } = qualityAt(found, split.wanted, cut);
        const label = files.kind === "sequences" ? "HR" : "Recall";
        return [name, { [`${label}@${cut}`]: recall.toFixed(4), [`NDCG@${cut}`]: ndcg.toFixed(4) }];
      }),
    ),
  );
}
