import { type Api, connect } from "./api";

/** How the service answers, as seen from a process that does nothing but ask. */
export interface Answered {
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
const most = 3000;

/** Asks for the recommendations of a user under the address of a deployment. */
export function ask(api: Api, serving: string, userId: string): Promise<unknown> {
  const body = JSON.stringify({ user_id: userId, attributes: ["title", "genre"], limit: 10 });
  return api.send(`${serving}${path}`, body, false, path);
}

/** Asks for somebody. */
type Asking = () => Promise<unknown>;

/** Answers when callers never wait. */
async function answerRates(api: Api, next: Asking) {
  const run = async (until: number) => {
    let count = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (performance.now() < until) {
          await next();
          count++;
        }
      }),
    );
    return count;
  };
  await run(performance.now() + 2000);
  const cpuBefore = (await api.status()).cpu_sec;
  const began = performance.now();
  const count = await run(began + secondsEach * 1000);
  const answersPerSecond = count / ((performance.now() - began) / 1000);
  return { answersPerSecond, answersPerCpuSecond: count / ((await api.status()).cpu_sec - cpuBefore) };
}

/** Latencies at a steady rate, counted from the moment at which each call was due, however late it was made. */
async function latencies(next: Asking, rate: number) {
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
        next().then(() => {
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

async function main([servingUri = "", key = "", users]: string[]): Promise<void> {
  const { origin, pathname } = new URL(servingUri);
  const api = connect({ url: origin, key });
  const next = () => ask(api, pathname, `u${Math.floor(Math.random() * Number(users))}`);
  const rates = await answerRates(api, next);
  const paced = await latencies(next, Math.min(rates.answersPerSecond, most) / 2);
  process.send?.({ ...rates, ...paced } satisfies Answered);
}

if (require.main === module) void main(process.argv.slice(2)).then(() => process.exit());
