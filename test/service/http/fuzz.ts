import fc from "fast-check";
import { errorBody, routes, wireName, wireSchema } from "../../../contract";
import type { ServiceProcess } from "../process";
import { Caller } from "../running";
import { openShop, shopRecords } from "../shop";
import { type OddRequest, oddRequests, queryOf, sent } from "./odd-requests";

/** Maximum response time in milliseconds. */
const slowMs = 2000;

/** Result of a run with unusual requests. */
export interface Figures {
  readonly cases: number;
  readonly statuses: Readonly<Record<number, number>>;
  readonly slowest: { readonly ms: number; readonly request: string };
  readonly p99Ms: number;
  /** Memory of the service at the start, after half of the cases, and at the end. */
  readonly rssMb: readonly [start: number, half: number, end: number];
}

/** Sends unusual requests to a service and checks every response: no 5xx, none slow, errors in the standard format. */
export async function fuzz(service: ServiceProcess, cases: number, seed: number): Promise<Figures> {
  const api = new Caller(service);
  const ids = await realIds(api);
  const rssMb = async () => Math.round((await statusOf(api)).memory_bytes / 2 ** 20);
  const statuses: Record<number, number> = {};
  const times: number[] = [];
  let slowest = { ms: 0, request: "" };
  const rss = [await rssMb()];

  const property = fc.asyncProperty(
    oddRequests(() => ids),
    async (odd) => {
      if (times.length === Math.floor(cases / 2)) rss.push(await rssMb());
      const { status, ms } = await judged(api, odd, ids);
      statuses[status] = (statuses[status] ?? 0) + 1;
      times.push(ms);
      if (ms > slowest.ms)
        slowest = { ms: Math.round(ms), request: `${odd.method} ${odd.path.slice(0, 40)}` };
    },
  );
  await fc.assert(property, { numRuns: cases, seed, endOnFailure: true });
  rss.push(await rssMb());
  await api.close();
  times.sort((one, other) => one - other);
  return {
    cases,
    statuses,
    slowest,
    p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? 0),
    rssMb: rss as [number, number, number],
  };
}

/** Formats the result for output. */
export function shownFigures({ cases, statuses, slowest, p99Ms, rssMb }: Figures): string {
  const [start, half, end] = rssMb;
  const byStatus = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  return [
    `${cases} requests: ${byStatus.join(", ")}`,
    `slowest answer ${slowest.ms} ms (${slowest.request}), p99 ${p99Ms} ms`,
    `memory ${start} MB at the start, ${half} MB after half, ${end} MB at the end`,
    "",
  ].join("\n");
}

/** Sends a request, and throws if the response violates the contract. */
async function judged(api: Caller, odd: OddRequest, ids: Record<string, string>) {
  const { body, headers } = sent(odd);
  const query =
    odd.method === "GET" && odd.name && odd.content.kind === "json" ? `?${queryOf(odd.content.json)}` : "";
  const all = { ...headers, ...(await credentials(api, odd)) };
  const ask = async () => {
    const started = performance.now();
    const answer = await api.raw(`${odd.path}${query}`, {
      method: odd.method,
      headers: all,
      ...(odd.method === "GET" ? {} : { body }),
    });
    return { ...answer, ms: performance.now() - started };
  };
  const answer = await ask();
  const { status, ms } = answer;
  if (status >= 500) throw new Error(`${status}: ${answer.text.slice(0, 500)}`);
  if (ms > slowMs) await refuseSlow(api, ask);
  if (status >= 400) {
    const { error } = wireSchema(errorBody).parse(answer.body) as { error: { request_id: string } };
    if (error.request_id !== answer.answered["x-request-id"])
      throw new Error("the answer has another request id");
  } else if (odd.name && odd.method === routes[odd.name].method) {
    wireSchema(routes[odd.name].reply).parse(answer.body);
    // Only objects that were just created may be deleted, so the others stay.
    if (odd.name === "createEventDataset") ids.spare = answer.body.event_dataset_id;
  }
  return { status, ms };
}

/** Repeats a slow request and also checks the CPU time of the service, because a busy machine slows every response. */
async function refuseSlow(api: Caller, ask: () => Promise<{ ms: number }>): Promise<void> {
  const before = await statusOf(api);
  const { ms } = await ask();
  const cpuMs = ((await statusOf(api)).cpu_sec - before.cpu_sec) * 1000;
  if (Math.min(ms, cpuMs) > slowMs)
    throw new Error(`slow: ${Math.round(ms)} ms, of them ${Math.round(cpuMs)} at work`);
}

async function statusOf(api: Caller): Promise<{ memory_bytes: number; cpu_sec: number }> {
  return (await api.raw("/status", { headers: { apikey: api.service.key } })).body;
}

async function credentials(api: Caller, { credentials: which, name, path }: OddRequest) {
  if (which === "none") return {};
  if (which === "odd") return { apikey: "odd", authorization: "Bearer odd" };
  return name ? api.headers(path) : { apikey: api.service.key };
}

/** Creates a small shop with a deployed model. Returns its ids by field name. */
async function realIds(api: Caller): Promise<Record<string, string>> {
  const shop = await openShop(api, shopRecords({ users: 12, items: 12, perUser: 4 }));
  const { projectId, algorithmId } = shop;
  const { jobId } = await api.call("submitTrainingJob", { projectId, algorithmId, name: "first" });
  const modelId = (await ended(api, projectId, jobId)).jobResult?.modelId as string;
  const live = { projectId, name: "live", generatorModelId: modelId, qps: 1_000_000 };
  await ended(api, projectId, (await api.call("submitDeploymentJob", live)).jobId);
  const ids = { ...shop, jobId, modelId, generatorModelId: modelId };
  return Object.fromEntries(Object.entries(ids).map(([key, id]) => [wireName(key), id as string]));
}

async function ended(api: Caller, projectId: string, jobId: string) {
  for (;;) {
    const job = await api.call("getJob", { projectId, jobId });
    if (job.jobStatus === "SUCCEED") return job;
    if (job.jobStatus === "FAILED") throw new Error(JSON.stringify(job));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
