import * as recommender from "pulumi-recommender";

for (let n = 0; n < Number(process.env.BENCH_COUNT); n++) {
  const name = n === 0 ? process.env.BENCH_NAME : undefined;
  new recommender.EventDataset(`events${n}`, { numShards: 1, ...(name && { name }) });
}
