import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Input, Reply, RouteName, routes } from "../../contract";
import type { Cluster } from "./chaos";
import type { ChaosDatabase } from "./chaos-database";
import { type Caller, Refusal } from "./running";
import type { openShop } from "./shop";

type Shop = Awaited<ReturnType<typeof openShop>>;

/** How long a client waits before it tries the other API; on a busy machine an answer takes longer. */
const patienceMs = Number(process.env.CHAOS_GAP_MS ?? 1000) / 4;

/** For how long an API may answer from the old primary after a failover, and a little more. */
const staleMs = 3000;

/** Clients of two APIs that are struck all the time, and what they were told. */
export class Load {
  readonly acknowledged = new Set<string>();
  /** By id, what an event was sent with: each time something else. */
  readonly sent = new Map<string, string[]>();
  readonly forgotten: string[] = [];
  readonly jobs: { readonly projectId: string; readonly jobId: string }[] = [];
  /** Recommendations that showed what their user had bought before. */
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
    /** One where users are forgotten, and one where all stay. */
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

  /** One try at one of the APIs; undefined where nobody knows what became of it. */
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
      // Whatever is refused for another reason than the chaos is a defect.
      if (error instanceof Refusal && error.status !== 503) throw error;
      return undefined;
    };
    const answer = call.catch(failed);
    return Promise.race([answer, sleep(waitMs, undefined, { ref: false })]) as Promise<
      Reply<(typeof routes)[K]> | undefined
    >;
  }

  /** Tries until it is acknowledged, as a careful client does: under one key. */
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
      // Some ids come again, so that updates are interrupted as well as inserts.
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

  /** A user comes and goes. Where nobody knows whether he came he is not looked at: a process that stood still may write him later. */
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
    // Long enough for some to be in a model.
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

  /** Submits a job and waits for its end. */
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

  /** Asks all the time, and the other API where one does not answer at once. */
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
      // Two seconds after a failover an API may still answer from the old primary.
      if (this.database.failedOverSince(performance.now() - staleMs)) continue;
      const shown = reply.results.map(({ item }) => item.itemId).filter((id) => bought.has(id));
      if (shown.length > 0) this.wrong.push(`${userId} was shown ${shown}`);
      await sleep(20);
    }
    this.answered(last);
  }

  /** Notes how long nobody has answered since a moment although the database could; gives the moment of now. */
  private answered(last: number): number {
    const now = performance.now();
    this.longestGapMs = Math.max(this.longestGapMs, now - last - this.database.downMs(last, now));
    return now;
  }
}
