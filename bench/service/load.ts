import { type Api, connect } from "./api";

/** Throughput and latency of the service, measured by a separate load generator. */
export interface Answered {
  /** For users whose data is not in memory yet. */
  readonly firstAnswersPerSecond: number;
  readonly answersPerSecond: number;
  /** Per second of CPU time of the service. */
  readonly answersPerCpuSecond: number;
  readonly pacedPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** The delay of the load generator itself, which the latencies include. */
  readonly askedLateP99Ms: number;
}

const path = "/recommend-items-to-user";
const secondsEach = 10;

/** Warm-up calls, after which all code is compiled, and the number of users that they are for. */
const [callsBefore, usersBefore] = [5000, 100];

function bodyFor(user: number, more: object = {}): string {
  return JSON.stringify({ user_id: `u${user}`, attributes: ["title", "genre"], limit: 10, ...more });
}

/** Returns the path of the recommendations of a user at a deployment. */
export function ask(api: Api, serving: string, user: number): Promise<unknown> {
  return api.send(`${serving}${path}`, bodyFor(user), false, path);
}

/** Requests the recommendations of a user. */
type Asking = (user: number) => Promise<void>;

/** Sends requests for all users of an iterator, 16 at a time. Returns the seconds and the number of requests. */
export async function asked(ask: Asking, next: () => number | undefined) {
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

/** Sends requests for a few users until all code is compiled. Returns the first user who is not cached. */
export async function warmUp(ask: Asking): Promise<number> {
  let calls = 0;
  await asked(ask, () => (calls < callsBefore ? calls++ % usersBefore : undefined));
  return usersBefore;
}

/** Measures throughput without pauses, for users whose data is not in memory yet and for all users. */
async function answerRates(api: Api, ask: Asking, users: number) {
  let user = await warmUp(ask);
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

/** Measures latencies at a constant rate, from the time when each call was due, even if it was sent late. */
export async function latencies(ask: Asking, next: () => number, rate: number) {
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
        ask(next()).then(() => {
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

/**
 * Returns a function that requests the recommendations of one of the first `users` users at a deployment.
 * @param more additional fields of each request
 */
export async function asking(
  api: Api,
  serving: string,
  users: number,
  more: (user: number) => object = () => ({}),
): Promise<Asking> {
  const bodies = Array.from({ length: users }, (_, user) => bodyFor(user, more(user)));
  const headers = { ...(await api.headers(path)), "content-type": "application/json" };
  return (user) => api.post(`${serving}${path}`, headers, bodies[user] as string);
}

/** Measures latencies at half of the target rate `goal`, or at half of the highest rate if that is lower. */
async function main([servingUri = "", key = "", count, goal = "3000"]: string[]): Promise<void> {
  const { origin, pathname } = new URL(servingUri);
  const api = connect({ url: origin, key });
  const users = Number(count);
  const ask = await asking(api, pathname, users);
  const rates = await answerRates(api, ask, users);
  const turns: Awaited<ReturnType<typeof latencies>>[] = [];
  while (turns.length < 3)
    turns.push(await latencies(ask, () => anyOf(users), Math.min(rates.answersPerSecond, Number(goal)) / 2));
  // The median, because a short pause of the machine delays all calls of that moment.
  const [, paced] = turns.sort((a, b) => a.p99Ms - b.p99Ms);
  process.send?.({ ...rates, ...(paced as (typeof turns)[number]) } satisfies Answered);
}

if (require.main === module) void main(process.argv.slice(2)).then(() => process.exit());
