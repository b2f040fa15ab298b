import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Review } from "../../cli/promote/review";
import { Client, endpointToken } from "../../client/client";
import { routes } from "../../contract";
import { type Ended, ended } from "../service/process";
import { Environments, tasteRows } from "./environments";

const kills = Number(process.env.RELEASE_KILLS ?? 3);
const seed = Number(process.env.RELEASE_SEED ?? Date.now() % 1_000_000_000);
/** A promotion that is killed this often is completed, and the next one begins. */
const killsPerRound = 5;

const policy = (to: string) => `promotion:
  order: [dev, staging]
  stages:
    staging:
      soak: 1s
      freezes:
        - { from: 2026-01-01, to: ${to}, timeZone: Europe/Berlin, reason: the season }
      watch: { for: 30m, every: 20ms }
`;

/** Parameters of a model that recommends the same items to everyone. */
const bad = { dimensions: 1, epochs: 1, regularization: 1e9, neighbours: 0, order: 0 };

/** When and what to kill. */
const plan = fc.sample(
  fc.noBias(
    fc.record({
      /** Share of the duration of a promotion that nothing interrupts. */
      moment: fc.double({ min: 0, max: 1, noNaN: true }),
      /** Whether the engine of the killed command survives. */
      isAlone: fc.boolean(),
    }),
  ),
  { seed, numRuns: kills * 10 },
);

/** Requests recommendations all the time, and counts the answers without an item. */
class Prober {
  readonly failures: string[] = [];
  answers = 0;
  #stopped = false;
  readonly #client: Client;
  readonly #done: Promise<void>;

  constructor({ url, key }: { url: string; key: string }, projectId: string) {
    const token = endpointToken({ url: `${url}/oauth/token`, clientId: "test", clientSecret: key });
    const retry = { budgetMs: 0, unreachableMs: 0, foreignMs: 0 };
    this.#client = new Client({ baseUrl: `${url}/serving/${projectId}`, apiKey: key, token, retry });
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#stopped; at++) {
      const answer = await this.#client
        .call(routes.recommendItemsToUser, { userId: `u${at % 30}`, limit: 3 })
        .then(({ results }) => (results.length === 3 ? undefined : `${results.length} items`), String);
      if (answer === undefined) this.answers++;
      else this.failures.push(answer);
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
    await this.#client.close();
  }
}

let at: Environments;
let prober: Prober | undefined;
beforeAll(async () => {
  at = await Environments.make(["dev", "staging"], tasteRows({ tastes: 6, perTaste: 20 }));
  await at.recommender("release", "dev");
});
afterAll(async () => {
  await prober?.stop();
  await at.dispose();
});

const command = ["promote", "dev", "staging", "--yes", "--min-quality-ratio", "0"];
const override = ["--override", "freeze", "--reason", "fix 4711"];

/** Kills the command at a random moment. Returns its result if it ended before. */
async function killed(durationMs: number, struck: { count: number }): Promise<Ended | undefined> {
  const { moment, isAlone } = plan.shift() ?? { moment: 0.5, isAlone: false };
  const child = at.start(...command, ...override, "--json");
  const result = ended(child);
  const winner = await Promise.race([result, sleep(moment * durationMs)]);
  if (winner || child.exitCode !== null) return result;
  process.kill(isAlone ? (child.pid as number) : -(child.pid as number), "SIGKILL");
  struck.count++;
  const last = await result;
  return last.code === null ? undefined : last;
}

test(`a bad model that is promoted despite a freeze is rolled back by the watch, after ${kills} kills at random moments (seed ${seed})`, async () => {
  // A freeze blocks the promotion until it is over.
  const frozen = join(at.workspace.directory, "recommender.yaml");
  await writeFile(frozen, policy("2999-12-31"));
  await at.commit("Freeze");
  const refused = await at.promote("dev", "staging", "--yes");
  expect(refused).toMatchObject({ code: 2, verdict: "refused" });
  expect(refused.gates.filter(({ isOpen }) => !isOpen)).toMatchObject([{ gate: "freeze" }]);
  const began = performance.now();
  expect((await at.recommender(...command, ...override, "--watch", "1s")).code).toBe(0);
  const durationMs = performance.now() - began;
  await at.commit("Promote dev-1");
  const { model: former, deployment } = await at.state("staging");
  prober = new Prober(at.services.staging.service, deployment.projectId ?? "");
  at.submissions("staging");

  const struck = { count: 0 };
  for (let round = 1; struck.count < kills; round++) {
    const parameters = JSON.stringify({ ...bad, epochs: round });
    await at.stacks.staging.setConfig("parameters", { value: parameters });
    await at.commit(`Bad parameters ${round}`);
    let last: Ended | undefined;
    for (let kill = 0; kill < killsPerRound && struck.count < kills && !last; kill++)
      last = await killed(durationMs, struck);
    last ??= await at.recommender(...command, ...override, "--json");
    expect(last).toMatchObject({ code: 2, err: expect.any(String) });
    const review = JSON.parse(last.out) as Review;
    const [promoted, restored] = [2 * round, 2 * round + 1].map((number) => `staging-${number}`);
    expect(review.release?.reason).toMatch(
      new RegExp(`^The watch found that the ten most shown items .* It was rolled back as ${restored}\\.$`),
    );
    // One training, one switch, and one switch back.
    expect({ round, submitted: at.submissions("staging") }).toEqual({
      round,
      submitted: ["POST /submit-training-job", "POST /submit-deployment-job", "POST /submit-deployment-job"],
    });
    expect((await at.released("staging")).slice(2 * round - 1)).toMatchObject([
      {
        id: promoted,
        action: "promote",
        status: "failed",
        from: { stack: "dev", release: "dev-1" },
        gates: [
          { gate: "order", state: "open" },
          { gate: "clock", state: "open" },
          { gate: "soak", state: "open" },
          { gate: "freeze", state: "overridden", reason: "fix 4711" },
        ],
        before: [{ generator: { modelId: former } }],
        watch: { state: "failed", before: { live: { errors: 0, popularity: expect.any(Number) } } },
      },
      {
        id: restored,
        action: "rollback",
        status: "done",
        watched: promoted,
        contents: { deployments: [{ generator: { modelId: former }, check: { result: "passed" } }] },
      },
    ]);
    expect(await at.deployedBy("staging")).toBe(former);
    await at.commit(`Promotion ${round}`);
  }
  expect({ failures: prober.failures, hasAnswers: prober.answers > 0 }).toEqual({
    failures: [],
    hasAnswers: true,
  });
});
