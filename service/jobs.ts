import { cpus } from "node:os";
import type { Context } from "./context";
import { finishDeployment } from "./deployment";
import { JobError } from "./job-error";
import { Pool } from "./pool";
import { claim, fail, type JobTable, type JobType, putBack, recover } from "./queue";
import { finishClustering, finishQuerying } from "./result";
import { finishTraining } from "./training";

/** Training has threads of its own, so that the shorter kinds never wait behind it. */
const lanes: readonly { readonly jobTypes: readonly JobType[]; readonly threads: number }[] = [
  { jobTypes: ["TRAINING"], threads: Math.max(1, cpus().length >> 1) },
  { jobTypes: ["DEPLOYMENT", "QUERYING", "CLUSTERING"], threads: 1 },
];

const finish = {
  TRAINING: finishTraining,
  DEPLOYMENT: finishDeployment,
  QUERYING: finishQuerying,
  CLUSTERING: finishClustering,
};

/** Runs the jobs of the queue off the API's thread; what they bring is written here, in one stroke each. */
export class Jobs {
  readonly pool: Pool;
  private readonly running = new Map<number, JobType>();
  private readonly work = new Set<Promise<void>>();
  private claiming: Promise<void> | undefined;
  private more = false;

  constructor(private readonly context: Context) {
    this.pool = new Pool(context);
  }

  /** Takes up what an earlier process left. */
  async recover(): Promise<void> {
    const { store, clock } = this.context;
    await store.transaction((db) => recover(db, clock.now()));
  }

  /** Looks for waiting jobs; called whenever there may be one. */
  wake(): void {
    this.more = true;
    this.claiming ??= this.claimAll().finally(() => {
      this.claiming = undefined;
    });
  }

  /** Whether any job is under way. */
  get busy(): boolean {
    return this.running.size > 0;
  }

  /** Resolves when no job waits or runs. */
  async idle(): Promise<void> {
    while (this.claiming || this.work.size > 0) {
      await this.claiming;
      await Promise.all(this.work);
    }
  }

  /** Ends the threads; jobs under way go back into the queue. */
  async close(): Promise<void> {
    await this.pool.close();
    await this.claiming;
    await Promise.all(this.work);
  }

  private async claimAll(): Promise<void> {
    while (this.more && !this.context.closing.aborted) {
      this.more = false;
      for (const lane of lanes) while (await this.claimOne(lane));
    }
  }

  private async claimOne({ jobTypes, threads }: (typeof lanes)[number]): Promise<boolean> {
    const { store, faults, closing } = this.context;
    const busy = [...this.running.values()].filter((type) => jobTypes.includes(type)).length;
    // Jobs that are stretched wait side by side, for they need no thread while they wait.
    if (closing.aborted || (busy >= threads && faults.jobDelayMs === 0)) return false;
    const job = await store.transaction((db) => claim(db, jobTypes));
    if (!job) return false;
    this.running.set(job.number, job.job_type);
    const done = this.run(job).finally(() => {
      this.running.delete(job.number);
      this.work.delete(done);
      this.wake();
    });
    this.work.add(done);
    return true;
  }

  private async run(job: JobTable): Promise<void> {
    const { store, clock, faults, log, closing } = this.context;
    const about = { jobId: job.id, jobType: job.job_type, retryCount: job.retry_count };
    const began = clock.now();
    try {
      await clock.wait(faults.jobDelayMs, closing);
      if (closing.aborted) return void (await store.transaction((db) => putBack(db, job)));
      faults.failJob(job);
      await finish[job.job_type](job, this.context);
      log.info({ ...about, jobMs: clock.now() - began }, "job succeeded");
    } catch (error) {
      if (closing.aborted) return void (await store.transaction((db) => putBack(db, job)));
      const message = error instanceof Error ? error.message : String(error);
      const final = error instanceof JobError;
      const again = await store.transaction((db) => fail(db, job, { message, final, now: clock.now() }));
      log.warn(
        { ...about, err: error, jobMs: clock.now() - began },
        again ? "job will be retried" : "job failed",
      );
    }
  }
}
