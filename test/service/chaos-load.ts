import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Input, Reply, RouteName, routes } from "../../contract";
import type { Cluster } from "./chaos";
import type { ChaosDatabase } from "./chaos-database";
import { type Caller, Refusal } from "./running";
import type { openShop } from "./shop";

type Shop = Awaited<ReturnType<typeof openShop>>;

/** How long a client waits before it tries the other API process. A busy machine takes longer to respond. */
const patienceMs = Number(process.env.CHAOS_GAP_MS ?? 1000) / 4;

/** How long an API process may answer from the old primary after a failover, with some margin. */
const staleMs = 3000;

/** Clients of two API processes that suffer faults, and the responses that they got. */
export class Load {
  readonly acknowledged = new Set<string>();
  /** Values that each event was sent with, different each time. */
  readonly sent = new Map<string, string[]>();
  readonly forgotten: string[] = [];
  readonly jobs: { readonly projectId: string; readonly jobId: string }[] = [];
  /** Recommendations that contained an item that the user had bought before. */
  readonly wrong: string[] = [];
  answers = 0;
  longestGapMs = 0;
  private readonly bought = new Map<string, Set<string>>();
  private next = 0;
  private sends = 0;
  private stopped = false;
  private work: Promise<PromiseSettledResult<void>[]> = Promise.resolve([]);

  constructor(
    private readonly cluster: Cluster,
    private readonly database: ChaosDatabase,
    private readonly caller: Caller,
    /** One shop whose users are forgotten, and one whose users stay. */
    private readonly shop: Shop,
    private readonly calm: Shop & { modelId: string },
    private readonly random: () => number,
  ) {}

  start(): void {
    const steps = [
      () => this.upsert(),
      () => this.upsert(),
      () => this.forgetSomebody(),
      () => this.trainAndDeploy(),
      () => this.query(),
    ];
    this.work = Promise.allSettled([this.recommend(), ...steps.map((step) => this.repeat(step))]);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (const ended of await this.work) if (ended.status === "rejected") throw ended.reason;
  }

  private async repeat(step: () => Promise<void>): Promise<void> {
    while (!this.stopped) await step();
  }

  /** Sends a call to one of the API processes. Returns undefined if the outcome is unknown. */
  private async once<K extends RouteName>(
    name: K,
    input: Input<(typeof routes)[K]>,
    {
      key,
      waitMs = 5000,
      api = Math.floor(this.random() * 2),
    }: { key?: string; waitMs?: number; api?: number } = {},
  ): Promise<Reply<(typeof routes)[K]> | undefined> {
    const base = this.cluster.apis[api]?.url as string;
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    const call = this.caller.call(name, input, { base, headers });
    const failed = (error: unknown) => {
      // A call that is rejected for any other reason than a fault is a bug.
      if (error instanceof Refusal && error.status !== 503) throw error;
      return undefined;
    };
    const answer = call.catch(failed);
    return Promise.race([answer, sleep(waitMs, undefined, { ref: false })]) as Promise<
      Reply<(typeof routes)[K]> | undefined
    >;
  }

  /** Retries with one idempotency key until the call is acknowledged. */
  private async surely<K extends RouteName>(
    name: K,
    input: Input<(typeof routes)[K]>,
  ): Promise<Reply<(typeof routes)[K]>> {
    const key = randomUUID();
    for (;;) {
      const reply = await this.once(name, input, { key });
      if (reply) return reply;
      await sleep(50);
    }
  }

  private async upsert(): Promise<void> {
    const events = Array.from({ length: 20 }, (_, at) => {
      // Some ids are repeated, so faults interrupt updates and inserts.
      const id = this.random() < 0.1 ? Math.floor(this.random() * this.next) : this.next++;
      const eventType = at === 0 ? "purchase" : "view";
      return {
        eventId: `${eventType}${id}`,
        userId: `u${id % 40}`,
        itemId: `i${id % 60}`,
        ts: id,
        eventType,
        eventValue: 1 + (this.sends++ % 5),
        attributes: { send: this.sends },
      };
    });
    for (const { eventId, ...content } of events)
      this.sent.set(eventId, [...(this.sent.get(eventId) ?? []), JSON.stringify(content)]);
    const { succeedIds } = await this.surely("upsertDatasetEvents", {
      eventDatasetId: this.shop.eventDatasetId,
      events,
    });
    for (const id of succeedIds) this.acknowledged.add(id);
    for (const { eventType, userId, itemId } of events)
      if (eventType === "purchase")
        this.bought.set(userId, new Set([...(this.bought.get(userId) ?? []), itemId]));
    await sleep(30);
  }

  /** Adds and deletes a user. If the outcome of the upsert is unknown, the user is not checked: a paused process may write it later. */
  private async forgetSomebody(): Promise<void> {
    const { eventDatasetId } = this.shop;
    const userId = `gone${this.next++}`;
    const events = Array.from({ length: 5 }, (_, at) => ({
      eventId: `${userId}-${at}`,
      userId,
      itemId: `i${at * 7}`,
      ts: 1,
      eventType: "purchase",
    }));
    const came = await this.once("upsertDatasetEvents", { eventDatasetId, events }, { waitMs: 60_000 });
    if (!came) return;
    // Long enough for some users to be in a model.
    await sleep(this.random() * 3000);
    await this.surely("deleteDatasetUserEvents", { eventDatasetId, userId });
    this.forgotten.push(userId);
  }

  private async trainAndDeploy(): Promise<void> {
    const { projectId, algorithmId } = this.shop;
    const trained = await this.finish("submitTrainingJob", { projectId, algorithmId, name: randomUUID() });
    const generatorModelId = trained.jobResult?.modelId;
    if (generatorModelId === undefined) return;
    await this.finish("submitDeploymentJob", {
      projectId,
      name: randomUUID(),
      generatorModelId: generatorModelId as string,
      qps: 100_000,
    });
  }

  private async query(): Promise<void> {
    const { projectId, modelId } = this.calm;
    await this.finish("submitClusteringJob", { projectId, modelId, name: randomUUID(), parameters: {} });
    await sleep(500);
  }

  /** Submits a job and waits until it has ended. */
  private async finish<K extends "submitTrainingJob" | "submitDeploymentJob" | "submitClusteringJob">(
    name: K,
    input: Input<(typeof routes)[K]>,
  ) {
    const { jobId } = (await this.surely(name, input)) as { jobId: string };
    const { projectId } = input as { projectId: string };
    this.jobs.push({ projectId, jobId });
    for (;;) {
      const job = await this.surely("getJob", { projectId, jobId });
      if (this.stopped || job.jobStatus === "SUCCEED" || job.jobStatus === "FAILED") return job;
      await sleep(100);
    }
  }

  /** Requests recommendations all the time, from the other API process if one does not respond at once. */
  private async recommend(): Promise<void> {
    let last = performance.now();
    for (let turn = 0; !this.stopped; turn++) {
      const userId = `u${Math.floor(this.random() * 40)}`;
      const bought = this.bought.get(userId) ?? new Set();
      const asked = { userId, limit: 60 };
      const base = { waitMs: patienceMs, api: turn % 2 };
      const reply = await this.once("recommendItemsToUser", asked, base);
      if (!reply) {
        await sleep(5);
        continue;
      }
      this.answers++;
      last = this.answered(last);
      // For two seconds after a failover, an API process may answer from the old primary.
      if (this.database.failedOverSince(performance.now() - staleMs)) continue;
      const shown = reply.results.map(({ item }) => item.itemId).filter((id) => bought.has(id));
      if (shown.length > 0) this.wrong.push(`${userId} was shown ${shown}`);
      await sleep(20);
    }
    this.answered(last);
  }

  /** Records how long no process has responded although the database was available. Returns the current time. */
  private answered(last: number): number {
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - last - this.database.downMs(last, now));
    return now;
  }
}
