// jobs/ runs the jobs of the queue: trainings, deployments, queries, clusterings and recommendations.

import { setTimeout as sleep } from "node:timers/promises";
import { errorType, type Span } from "../../telemetry/span";
import { LostLeaseError } from "../base/job-error";
import { recover, renew, take } from "../store/queue";
import type { Job } from "../store/tables";
import { timeIn } from "../store/time";
import { type Lane, lanesOf } from "../threads/pool";
import type { JobContext } from "./context";
import { DatabaseContact } from "./database-contact";
import { runDeployment } from "./deployment";
import { about, lineOf, outcomeOf, recordFailure, removeEnded } from "./failure";
import { runRecommendation } from "./recommendation";
import { runClustering, runQuerying } from "./result";
import { traceJob } from "./tracing";
import { runTraining } from "./training";

/** How often the queue is checked, in addition to calls of `wake`. */
const pollMs = 5000;

const runners = {
  TRAINING: runTraining,
  DEPLOYMENT: runDeployment,
  QUERYING: runQuerying,
  CLUSTERING: runClustering,
  RECOMMENDATION: runRecommendation,
};

/** Runs the jobs of the queue in threads, and writes the result of each job in one transaction. */
export class Jobs {
  private readonly running = new Map<Job, AbortController>();
  private readonly work = new Set<Promise<void>>();
  private taking: Promise<void> | undefined;
  private more = false;
  private readonly contact: DatabaseContact;
  private hasRecovered = false;

  constructor(private readonly context: JobContext) {
    this.contact = new DatabaseContact(context.options.leaseMs);
  }

  /** Requeues the jobs of processes that died, or fails them if they have no retries left. */
  async recover(): Promise<void> {
    const { store, clock, log, metrics } = this.context;
    const left = await store.exclusively(async (db) => {
      const now = await timeIn(db, clock.now());
      return !store.isShared || this.contact.isSteadyAt(now) ? recover(db, now) : [];
    });
    this.hasRecovered = true;
    for (const { job, again, reason } of left) {
      // The duration is 0, because it is unknown how long the job ran.
      metrics.jobs.observe({ type: job.job_type, outcome: outcomeOf(again) }, 0);
      log.warn({ ...about(job), err: new Error(reason) }, lineOf(again));
      if (!again) await removeEnded(job, this.context);
    }
  }

  /** Starts pending jobs. Call it whenever a new job may be pending. */
  wake(): void {
    if (this.context.role === "api") return;
    this.more = true;
    this.taking ??= this.takeAll()
      .catch((error) => this.context.log.error({ err: error }, "cannot start jobs; trying again soon"))
      .finally(() => {
        this.taking = undefined;
        if (this.more && !this.context.closing.aborted) this.wake();
      });
  }

  /** Checks the queue and the threads at intervals, until the service closes. */
  async watch(): Promise<void> {
    const { clock, closing, store, log } = this.context;
    while (!closing.aborted) {
      // If the disk was full at the start of the service, interrupted jobs could not be requeued, so try again.
      // They must be requeued before `wake`, or jobs that have just started would be requeued too.
      if (!store.isShared && !this.hasRecovered)
        await this.recover().catch((error) => log.error({ err: error }, "cannot check the queue"));
      if (store.isShared || this.hasRecovered) this.wake();
      await clock.wait(pollMs, closing);
      this.context.pool.check();
      if (store.isShared && !closing.aborted)
        await this.recover().catch((error) => log.error({ err: error }, "cannot check the queue"));
    }
  }

  /** Renews the leases of this process's jobs until the service closes and the jobs have ended. */
  async renewLeases(): Promise<void> {
    const { clock, closing, store, log, options } = this.context;
    for (let pauseMs = 0; !closing.aborted || this.work.size > 0; ) {
      await clock.wait(pauseMs, closing);
      if (closing.aborted) await sleep(100);
      const running = [...this.running];
      try {
        const renewed = await renew(
          store.heartbeat,
          running.map(([job]) => job),
          this.lease(),
        );
        for (const [job, lost] of running)
          if (!renewed.has(job))
            lost.abort(new LostLeaseError("another process has taken over the job, or the job has ended"));
        this.contact.confirm(await timeIn(store.heartbeat, clock.now()));
        pauseMs = options.leaseMs / 5;
      } catch (error) {
        log.error({ err: error }, "cannot renew the leases of jobs; trying again soon");
        pauseMs = options.leaseMs / 15;
      }
    }
  }

  /** Whether this process runs a job or waits to retry one. */
  get busy(): boolean {
    return this.work.size > 0;
  }

  /** Resolves when no job is pending or running. */
  async idle(): Promise<void> {
    while (this.taking || this.work.size > 0 || (await this.hasUnfinished())) {
      await this.taking;
      await Promise.all(this.work);
    }
  }

  /** Whether a shared database has unfinished jobs. If so, waits a moment before it returns. */
  private async hasUnfinished(): Promise<boolean> {
    const { store, closing } = this.context;
    if (!store.isShared || closing.aborted) return false;
    const jobs = store.db.selectFrom("jobs").select("number").where("finished_ts", "is", null);
    if (!(await jobs.limit(1).executeTakeFirst())) return false;
    await sleep(20);
    return true;
  }

  /** Ends the threads and requeues the running jobs. */
  async close(): Promise<void> {
    await this.context.pool.close();
    await this.taking;
    await Promise.all(this.work);
  }

  private lease() {
    const { processId: worker, clock, options } = this.context;
    return { worker, now: clock.now(), leaseMs: options.leaseMs };
  }

  private async takeAll(): Promise<void> {
    while (this.more && !this.context.closing.aborted) {
      this.more = false;
      for (const lane of lanesOf(this.context.options)) while (await this.takeOne(lane));
    }
  }

  private async takeOne({ kinds, jobs }: Lane): Promise<boolean> {
    const { store, faults, closing } = this.context;
    if (kinds.length === 0) return false;
    const busy = [...this.running.keys()].filter((job) => kinds.includes(job.job_type)).length;
    // Jobs with an injected delay need no thread while they wait, so their number is not limited.
    if (closing.aborted || (busy >= jobs && faults.jobDelayMs === 0)) return false;
    const job = await store.concurrently((db) => take(db, kinds, this.lease()));
    if (!job) return false;
    const lost = new AbortController();
    this.running.set(job, lost);
    this.follow(this.run(job, lost.signal).finally(() => this.running.delete(job)));
    return true;
  }

  /** Counts `work` as a running job, and checks the queue when it ends. */
  private follow(work: Promise<unknown>): void {
    const done = work.then(() => {
      this.work.delete(done);
      this.wake();
    });
    this.work.add(done);
  }

  private run(job: Job, lost: AbortSignal): Promise<void> {
    return traceJob(job, this.context.clock.now(), (span) => this.runTraced(job, lost, span));
  }

  private async runTraced(job: Job, lost: AbortSignal, span: Span | undefined): Promise<void> {
    const { clock, faults, log, closing, metrics } = this.context;
    const began = clock.now();
    try {
      await clock.wait(faults.jobDelayMs, closing);
      if (closing.aborted) throw new Error("The service is closing.");
      faults.failJob(job);
      await runners[job.job_type](job, this.context, lost);
      const jobMs = clock.now() - began;
      metrics.jobs.observe({ type: job.job_type, outcome: "succeeded" }, jobMs / 1000);
      log.info({ ...about(job), jobMs }, "job succeeded");
    } catch (error) {
      span?.fail(errorType(error));
      const onRetry = (pauseMs: number) => this.follow(clock.wait(pauseMs, closing));
      await recordFailure(job, error, this.context, { began, onRetry });
    }
  }
}
