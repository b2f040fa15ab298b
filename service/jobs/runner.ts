// jobs/ claims, runs and finishes jobs: trainings, deployments, queries and clusterings.

import { JobError, OutdatedError } from "../base/job-error";
import { claim, fail, putBack, recover } from "../store/queue";
import type { JobTable, JobType } from "../store/tables";
import { lanes } from "../threads/pool";
import type { JobContext } from "./context";
import { finishDeployment } from "./deployment";
import { finishClustering, finishQuerying } from "./result";
import { finishTraining } from "./training";

/** How often the queue is looked at without anybody having asked for it. */
const pollMs = 5000;

const finish = {
  TRAINING: finishTraining,
  DEPLOYMENT: finishDeployment,
  QUERYING: finishQuerying,
  CLUSTERING: finishClustering,
};

/** Runs the jobs of the queue off the API's thread; what they bring is written here, in one stroke each. */
export class Jobs {
  private readonly running = new Map<number, JobType>();
  private readonly work = new Set<Promise<void>>();
  private claiming: Promise<void> | undefined;
  private more = false;

  constructor(private readonly context: JobContext) {}

  /** Takes up what an earlier process left. */
  async recover(): Promise<void> {
    const { store, clock } = this.context;
    await store.transaction((db) => recover(db, clock.now()));
  }

  /** Looks for waiting jobs; called whenever there may be one. */
  wake(): void {
    this.more = true;
    this.claiming ??= this.claimAll()
      .catch((error) => this.context.log.error({ err: error }, "jobs cannot be claimed; trying again soon"))
      .finally(() => {
        this.claiming = undefined;
        if (this.more && !this.context.closing.aborted) this.wake();
      });
  }

  /** Looks after the queue and the threads until the service closes. */
  async watch(): Promise<void> {
    const { clock, closing } = this.context;
    while (!closing.aborted) {
      this.wake();
      await clock.wait(pollMs, closing);
      this.context.pool.check();
    }
  }

  /** Whether any job is under way. */
  get busy(): boolean {
    return this.work.size > 0;
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
    await this.context.pool.close();
    await this.claiming;
    await Promise.all(this.work);
  }

  private async claimAll(): Promise<void> {
    while (this.more && !this.context.closing.aborted) {
      this.more = false;
      for (const lane of lanes) while (await this.claimOne(lane));
    }
  }

  private async claimOne({ kinds, threads }: (typeof lanes)[number]): Promise<boolean> {
    const { store, faults, clock, closing } = this.context;
    const busy = [...this.running.values()].filter((type) => kinds.includes(type)).length;
    // Jobs that are stretched wait side by side, for they need no thread while they wait.
    if (closing.aborted || (busy >= threads && faults.jobDelayMs === 0)) return false;
    const job = await store.transaction((db) => claim(db, kinds, clock.now()));
    if (!job) return false;
    this.running.set(job.number, job.job_type);
    this.follow(this.run(job).finally(() => this.running.delete(job.number)));
    return true;
  }

  /** Keeps an eye on work until it is done, and looks for more then. */
  private follow(work: Promise<unknown>): void {
    const done = work.then(() => {
      this.work.delete(done);
      this.wake();
    });
    this.work.add(done);
  }

  private async run(job: JobTable): Promise<void> {
    const { clock, faults, log, closing } = this.context;
    const began = clock.now();
    try {
      await clock.wait(faults.jobDelayMs, closing);
      if (closing.aborted) throw new Error("The service is closing.");
      faults.failJob(job);
      await finish[job.job_type](job, this.context);
      log.info({ ...about(job), jobMs: clock.now() - began }, "job succeeded");
    } catch (error) {
      await this.end(job, error, began);
    }
  }

  /** Records that a job has not succeeded, however often that takes: a disk may be full, for example. */
  private async end(job: JobTable, error: unknown, began: number): Promise<void> {
    const { store, clock, log, closing, options } = this.context;
    const message = error instanceof Error ? error.message : String(error);
    const final = error instanceof JobError;
    const pauseMs = options.retryDelayMs * 4 ** job.retry_count;
    for (;;) {
      try {
        if (closing.aborted) return await store.transaction((db) => putBack(db, job));
        if (error instanceof OutdatedError) {
          await store.transaction((db) => putBack(db, job));
          return log.info({ ...about(job), err: error }, "job is run again");
        }
        const now = clock.now();
        const ending = { message, final, now, dueTs: now + pauseMs };
        const again = await store.transaction((db) => fail(db, job, ending));
        if (again) this.follow(clock.wait(pauseMs, closing));
        const ended = { ...about(job), err: error, jobMs: now - began };
        return log.warn(ended, again ? "job will be retried" : "job failed");
      } catch (failure) {
        log.error({ ...about(job), err: failure }, "the end of a job cannot be written; trying again soon");
        // The next start finds the job running, and takes it up again.
        if (closing.aborted) return;
        await clock.wait(pollMs, closing);
      }
    }
  }
}

function about({ id, job_type, retry_count }: JobTable) {
  return { jobId: id, jobType: job_type, retryCount: retry_count };
}
