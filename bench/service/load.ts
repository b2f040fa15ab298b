import { type Api, connect } from "./api";

/** How the service answers, as seen from a process that does nothing but ask. */
export interface Answered {
  /** To users of whom nothing is in memory yet. */
  readonly firstAnswersPerSecond: number;
  readonly answersPerSecond: number;
  /** Per second of the service's own processor time. */
  readonly answersPerCpuSecond: number;
  readonly pacedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** How late the asking process itself was with a call, which the latencies include. */
  readonly askedLateP99Ms: number;
}

const path = "/recommend-items-to-user";
const secondsEach = 10;

/** Calls after which everything that answers is compiled, and the few users that they are for. */
const [callsBefore, usersBefore] = [5000, 100];

function bodyFor(user: number): string {
  return JSON.stringify({ user_id: `u${user}`, attributes: ["title", "genre"], limit: 10 });
}

/** The recommendations of a user under the address of a deployment. */
export function ask(api: Api, serving: string, user: number): Promise<unknown> {
  return api.send(`${serving}${path}`, bodyFor(user), false, path);
}

/** Asks for a user. */
type Asking = (user: number) => Promise<void>;

/** Asks for one user after the other, 16 at once, until none comes; gives the seconds and how many there were. */
async function asked(ask: Asking, next: () => number | undefined) {
  const began = performance.now();
  let count = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let user = next(); user !== undefined; user = next()) {
        await ask(user);
        count++;
      }
    }),
  );
  return { count, seconds: (performance.now() - began) / 1000 };
}

/** Answers when callers never wait: to users who were never asked for, and to all. */
async function answerRates(api: Api, ask: Asking, users: number) {
  let calls = 0;
  await asked(ask, () => (calls < callsBefore ? calls++ % usersBefore : undefined));
  let user = usersBefore;
  const first = await asked(ask, () => (user < users ? user++ : undefined));
  const cpuBefore = (await api.status()).cpu_sec;
  const until = performance.now() + secondsEach * 1000;
  const all = await asked(ask, () => (performance.now() < until ? anyOf(users) : undefined));
  const cpuSec = (await api.status()).cpu_sec - cpuBefore;
  return {
    firstAnswersPerSecond: first.count / first.seconds,
    answersPerSecond: all.count / all.seconds,
    answersPerCpuSecond: all.count / cpuSec,
  };
}

function anyOf(users: number): number {
  return Math.floor(Math.random() * users);
}

/** Latencies at a steady rate, counted from the moment at which each call was due, however late it was made. */
async function latencies(ask: Asking, users: number, rate: number) {
  const took: number[] = [];
  const late: number[] = [];
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < rate * secondsEach; ) {
    const due = Math.floor(((performance.now() - began) / 1000) * rate);
    for (; sent < due; sent++) {
      const from = began + (sent / rate) * 1000;
      late.push(performance.now() - from);
      pending.push(
        ask(anyOf(users)).then(() => {
          took.push(performance.now() - from);
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  return {
    pacedPerSecond: rate,
    p50Ms: quantile(took, 0.5),
    p99Ms: quantile(took, 0.99),
    p999Ms: quantile(took, 0.999),
    askedLateP99Ms: quantile(late, 0.99),
  };
}

function quantile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length * share)] as number;
}

/** Latencies are measured at half of `goal`, the rate that is to be reached, or of what was reached if that is less. */
async function main([servingUri = "", key = "", count, goal = "3000"]: string[]): Promise<void> {
  const { origin, pathname } = new URL(servingUri);
  const api = connect({ url: origin, key });
  const users = Number(count);
  const bodies = Array.from({ length: users }, (_, user) => bodyFor(user));
  const headers = { ...(await api.headers(path)), "content-type": "application/json" };
  const ask = (user: number) => api.post(`${pathname}${path}`, headers, bodies[user] as string);
  const rates = await answerRates(api, ask, users);
  const turns: Awaited<ReturnType<typeof latencies>>[] = [];
  while (turns.length < 3)
    turns.push(await latencies(ask, users, Math.min(rates.answersPerSecond, Number(goal)) / 2));
  // The middle one: a machine that is taken away for a moment makes all calls of that moment late.
  const [, paced] = turns.sort((a, b) => a.p99Ms - b.p99Ms);
  process.send?.({ ...rates, ...(paced as (typeof turns)[number]) } satisfies Answered);
}

if (require.main === module) void main(process.argv.slice(2)).then(() => process.exit());
