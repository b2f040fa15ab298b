import type { Api } from "./api";

const path = "/recommend-items-to-user";

function bodyOf(users: number): string {
  return JSON.stringify({
    user_id: `u${Math.floor(Math.random() * users)}`,
    attributes: ["title", "genre"],
    limit: 10,
  });
}

/** Answers per second when callers never wait, and per second of the service's own processor time. */
export async function answerRates(api: Api, users: number, seconds: number) {
  const run = async (until: number) => {
    let count = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        while (performance.now() < until) {
          await api.send(path, bodyOf(users), false);
          count++;
        }
      }),
    );
    return count;
  };
  await run(performance.now() + 2000);
  const cpuBefore = (await api.status()).cpu_sec;
  const began = performance.now();
  const count = await run(began + seconds * 1000);
  const answersPerSecond = count / ((performance.now() - began) / 1000);
  return { answersPerSecond, answersPerCpuSecond: count / ((await api.status()).cpu_sec - cpuBefore) };
}

/** Latencies at a steady rate, counted from the moment at which each call was due. */
export async function latencies(api: Api, users: number, rate: number, seconds: number) {
  const took: number[] = [];
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < rate * seconds; ) {
    const due = Math.floor(((performance.now() - began) / 1000) * rate);
    for (; sent < due; sent++) {
      const from = began + (sent / rate) * 1000;
      pending.push(
        api.send(path, bodyOf(users), false).then(() => {
          took.push(performance.now() - from);
        }),
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(took.length * share)] as number;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
