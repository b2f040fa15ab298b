import { Client, endpointToken } from "../client/client";
import { readSettings } from "../client/settings";
import { routes } from "../contract";
import { finishJob, jobKinds, submitJob } from "../provider/jobs/jobs";
import type { Context } from "../provider/run/context";
import { Run } from "../provider/run/session";
import { startService } from "../service";
import { ManualClock } from "../test/service/manual-clock";
import { goal, report } from "./report/report";

const hourMs = 3_600_000;
const durations = { "10 s": 10_000, "10 min": 600_000, "5 h": 5 * hourMs };
/** Jobs of slightly different lengths, so the result does not depend on when a job ends between two polls. */
const phases = 20;

/** The result of waiting for jobs of one length. */
interface Waited {
  readonly longestDelaySeconds: number;
  readonly meanDelaySeconds: number;
  readonly mostCallsInAnHour: number;
  readonly mostCalls: number;
}

async function main(): Promise<void> {
  // Without an engine, a lifecycle prints its progress to the terminal.
  const print = console.log;
  console.log = () => {};
  const waited: Record<string, Waited> = {};
  for (const [name, durationMs] of Object.entries(durations)) {
    const jobs = [];
    for (let phase = 0; phase < phases; phase++) jobs.push(await waitFor(durationMs * (1 + phase / 200)));
    const delays = jobs.map(({ delayMs }) => delayMs / 1000);
    waited[name] = {
      longestDelaySeconds: Math.max(...delays),
      meanDelaySeconds: delays.reduce((sum, delay) => sum + delay, 0) / phases,
      mostCallsInAnHour: Math.max(...jobs.map(({ looks }) => mostWithin(looks, hourMs))),
      mostCalls: Math.max(...jobs.map(({ looks }) => looks.length)),
    };
  }
  console.log = print;
  conclude(waited);
}

/** Runs a training of a given length in a real service, while the provider waits. Both use the same fake clock. */
async function waitFor(durationMs: number): Promise<{ delayMs: number; looks: number[] }> {
  const manual = new ManualClock();
  const looks: number[] = [];
  const write = (line: string) => {
    const { msg, path } = JSON.parse(line);
    if (msg === "call" && path === "/get-job") looks.push(manual.now());
  };
  const service = await startService({ clock: manual, jobDelayMs: durationMs, log: { write } });
  let dueMs = Number.POSITIVE_INFINITY;
  const clock = {
    now: () => manual.now(),
    sleep: async (ms: number) => {
      manual.advance(ms);
      // The clock stops while the job computes.
      if (manual.now() >= dueMs) await service.idle();
    },
  };
  const token = endpointToken({
    url: `${service.url}/oauth/token`,
    clientId: "bench",
    clientSecret: service.key,
  });
  const client = new Client({ baseUrl: service.url, apiKey: service.key, token, clock });
  const settings = readSettings(() => undefined, {
    RECOMMENDER_BASE_URL: service.url,
    RECOMMENDER_API_KEY: service.key,
    RECOMMENDER_ACCESS_TOKEN: "unused",
  });
  const context: Context = { client, clock, settings, run: new Run(), urn: undefined, title: "Model m" };
  try {
    const training = await shop(client);
    const submit = () => submitJob(context, routes.submitTrainingJob, training);
    const jobId = await submit();
    dueMs = manual.now() + durationMs;
    const { projectId } = training;
    await finishJob(context, { kind: jobKinds.training, projectId, jobId, submitAgain: submit });
    return { delayMs: manual.now() - dueMs, looks };
  } finally {
    await client.close();
    await service.close();
  }
}

/** The smallest dataset that can be trained on. */
async function shop(client: Client) {
  const { userDatasetId } = await client.call(routes.createUserDataset, { name: "u", numShards: 1 });
  const { itemDatasetId } = await client.call(routes.createItemDataset, { name: "i", numShards: 1 });
  const { eventDatasetId } = await client.call(routes.createEventDataset, { name: "e", numShards: 1 });
  const events = Array.from({ length: 60 }, (_, at) => ({
    eventId: `e${at}`,
    userId: `u${at % 10}`,
    itemId: `i${at % 6}`,
    ts: 1_700_000_000_000 + at,
    eventType: "view",
  }));
  await client.call(routes.upsertDatasetEvents, { eventDatasetId, events });
  const { projectId } = await client.call(routes.createProject, {
    name: "p",
    userDatasetId,
    itemDatasetId,
    eventDatasetId,
    targetEventType: "view",
  });
  const algorithmParameters = { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 0.1 };
  const { algorithmId } = await client.call(routes.createAlgorithm, {
    projectId,
    name: "g1",
    algorithmParameters,
  });
  return { projectId, algorithmId, name: "m" };
}

/** Returns the largest number of times within one window. */
function mostWithin(times: readonly number[], stretchMs: number): number {
  return Math.max(
    ...times.map((from) => times.filter((time) => time >= from && time < from + stretchMs).length),
  );
}

function conclude(waited: Readonly<Record<string, Waited>>): void {
  const entries = Object.entries(waited);
  const seconds = (name: string) => durations[name as keyof typeof durations] / 1000;
  const ratios = Object.fromEntries(
    entries.map(([name, { longestDelaySeconds }]) => [
      `longest delay / job of ${name}`,
      longestDelaySeconds / seconds(name),
    ]),
  );
  const goals = entries.flatMap(([name, { longestDelaySeconds, mostCallsInAnHour }]) => [
    goal(`job of ${name}: longest delay after its end (s)`, "≤", 30, longestDelaySeconds),
    goal(`job of ${name}: calls in any hour of waiting`, "≤", 150, mostCallsInAnHour),
  ]);
  report("wait", { ratios, goals, absolute: { waited }, shape: { durations, phases } });
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
