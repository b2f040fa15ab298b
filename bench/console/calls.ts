import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, request } from "undici";
import { type ServiceProcess, startProcess } from "../service/api";
import { type Address, shop, signIn, tokenOf } from "./session";

const [rounds, callsPerRound] = [9, 4000];

/**
 * Measures recommendations of two services, alternating between them with each call. An open page follows first one
 * service, then the other. Other work on the machine slows both, and constant differences between the two cancel out.
 */
export async function recommendationsWithThePageOpen(directory: string) {
  const seedFile = join(directory, "shop.json");
  writeFileSync(seedFile, JSON.stringify(shop()));
  const start = (name: string) => startProcess("--data", join(directory, name), "--seed", seedFile);
  const services = [await start("one"), await start("other")] as const;
  const asks = await Promise.all(services.map(asking));
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const at = round % 2;
    const followed = services[at] as ServiceProcess;
    const leave = await follow(followed, await signIn(followed));
    const took = services.map((): number[] => []);
    for (let call = 0; call < callsPerRound; call++)
      for (const [which, ask] of asks.entries()) took[which]?.push(await ask());
    await leave();
    const [open, closed] = [at, 1 - at].map((which) => median(took[which] as number[])) as [number, number];
    // The first round warms up.
    if (round > 0) ratios.push(open / closed);
  }
  for (const { kill } of services) await kill();
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

/** Requests one recommendation and returns the time in milliseconds. */
async function asking(service: Address): Promise<() => Promise<number>> {
  const dispatcher = new Agent({ connections: 1 });
  const authorization = `Bearer ${await tokenOf(service)}`;
  const headers = { "content-type": "application/json", apikey: service.key, authorization };
  return async () => {
    const began = performance.now();
    const { body } = await request(`${service.url}/recommend-items-to-user`, {
      method: "POST",
      headers,
      dispatcher,
      body: JSON.stringify({ user_id: "u1", limit: 10 }),
    });
    await body.text();
    return performance.now() - began;
  };
}

/** Reads the event stream of the service as an open page does, until the returned function is called. */
async function follow(service: Address, headers: Record<string, string>): Promise<() => Promise<void>> {
  const left = new AbortController();
  const { body } = await request(`${service.url}/console/api/live`, { headers, signal: left.signal });
  const lines = body[Symbol.asyncIterator]();
  await lines.next();
  const rest = (async () => {
    while (!(await lines.next()).done);
    throw new Error("The event stream ended.");
  })().catch((error) => {
    if (!left.signal.aborted) throw error;
  });
  return () => {
    left.abort();
    return rest;
  };
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] as number;
}
