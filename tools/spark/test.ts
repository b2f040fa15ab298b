// `npm run test:spark`: compares examples/trainer-spark on a cluster with the built-in training.

import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { movieLens } from "../../bench/quality/data";
import { cut, quality } from "../../bench/quality/measure";
import { Recommender } from "../../bench/quality/recommender";
import { holdOutPairs, itemsByUser } from "../../bench/quality/split";
import { type ServiceProcess, startProcess } from "../../bench/service/api";
import { startSpark } from "./cluster";

/** Largest share by which the quality with Spark may be lower than with the built-in training. */
const tolerance = 0.03;
const twins = 200;

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "recommender-spark-"));
  const cluster = await startSpark(join(directory, "workers"));
  const services: ServiceProcess[] = [];
  try {
    const data = await movieLens();
    const { train, wanted } = holdOutPairs(data.pairs, 0.2, 1);
    for (const trainer of [[], ["--trainer", cluster.trainer]])
      services.push(await startProcess("--data", join(directory, `data-${services.length}`), ...trainer));
    const deployed = [];
    for (const service of services) {
      const recommender = await Recommender.of(data, service);
      deployed.push({ recommender, ...(await recommender.deploy(data.name, train)) });
    }
    const [own, spark] = deployed as [(typeof deployed)[0], (typeof deployed)[0]];
    const measured = [];
    for (const { ask } of [own, spark]) measured.push(quality(await ask(wanted.keys(), cut), wanted));
    const [ours, theirs] = measured as [(typeof measured)[0], (typeof measured)[0]];
    console.table({
      "in-process": { ...ours, seconds: own.trainingSeconds },
      spark: { ...theirs, seconds: spark.trainingSeconds },
    });
    console.log("Spark's parameters:", spark.chosenParameters);
    assert.equal(cluster.used(), 2, "both workers of the cluster take part");
    for (const figure of ["recall20", "ndcg20"] as const) {
      const least = ours[figure] * (1 - tolerance);
      assert.ok(theirs[figure] >= least, `${figure} of Spark is ${theirs[figure]}, below ${least}`);
    }
    await foldIn(spark, itemsByUser(train));
    console.log("Passed.");
    for (const { recommender } of deployed) await recommender.close();
  } finally {
    for (const service of services) service.kill();
    cluster.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/**
 * Checks that fold-in solves the same equations as Spark. Spark computes the user vectors last, so a new user with the
 * events of a trained user must get the same recommendations.
 */
async function foldIn(
  { add, ask }: Awaited<ReturnType<Recommender["deploy"]>>,
  items: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<void> {
  const users = [...items.keys()].slice(0, twins);
  await add(
    users.flatMap((user) => [...(items.get(user) ?? [])].map((item) => ({ user: `twin ${user}`, item }))),
  );
  const trained = await ask(users, cut);
  const folded = await ask(
    users.map((user) => `twin ${user}`),
    cut,
  );
  const alike = users.map((user) => {
    const [list, other] = [trained.get(user) ?? [], folded.get(`twin ${user}`) ?? []];
    return list.filter((item, place) => other[place] === item).length / cut;
  });
  const share = alike.reduce((sum, one) => sum + one, 0) / users.length;
  console.log(
    `${(100 * share).toFixed(2)} % of the places in ${users.length} lists are those of the trained users`,
  );
  // Items whose scores differ only in the last bit may swap places.
  assert.ok(share > 0.99, "folded-in users get what Spark's rule gives");
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
