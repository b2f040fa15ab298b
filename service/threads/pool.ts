// threads/ runs the long computations of jobs in worker threads.

import type { Worker } from "node:worker_threads";
import { JobError } from "../base/job-error";
import { endThread, startThread } from "../base/native-calls";
import { modulePath, threadOptions } from "../base/package-paths";
import type { Options, ServiceContext } from "../files/service-context";
import type { JobType } from "../store/tables";
import type { Message } from "./listen";
import { type Share, shareOf } from "./share";
import type { Task, TaskKind, TaskProgress, TaskResult } from "./worker";

/**
 * Kinds of jobs and tasks that share threads. Each lane has separate threads, so short jobs do not wait for long ones.
 */
export interface Lane {
  readonly kinds: readonly JobType[];
  readonly tasks: readonly TaskKind[];
  /** How many jobs of the lane run concurrently. */
  readonly jobs: number;
  /** The module that runs the tasks. Default: `defaultModule`. */
  readonly module?: string;
}

const defaultModule = "service/threads/worker";

/** Returns the lanes of a process that may use `threads` threads for trainings. */
export function lanesOf({ threads }: Pick<Options, "threads">): readonly Lane[] {
  const jobs = Math.max(1, threads >> 1);
  return [
    { kinds: ["TRAINING"], tasks: ["TRAINING", "TRAINING_DATA", "TRAINED_MODEL"], jobs },
    // Only one job, so the deployments of a project happen in the order of their jobs.
    { kinds: ["DEPLOYMENT"], tasks: ["DEPLOYMENT"], jobs: 1 },
    { kinds: ["QUERYING", "CLUSTERING"], tasks: ["QUERYING", "CLUSTERING", "PREVIEW"], jobs: 1 },
    // A job for all users takes long, and everything else must not wait for it. It computes recommendations as calls do.
    {
      kinds: ["RECOMMENDATION"],
      tasks: ["RECOMMENDATION", "RECOMMENDATION_FILE"],
      jobs: 1,
      module: "service/batch/worker",
    },
    // API calls wait for these tasks, so these tasks must not wait for jobs.
    { kinds: [], tasks: ["REMOVE_USERS"], jobs: 1 },
    { kinds: [], tasks: ["COPY_LOG", "SCRUB"], jobs: 1 },
  ];
}

/** Maximum duration of a job in minutes, at least as long as the API specification allows. */
const limitMinutes: Readonly<Record<JobType, number>> = {
  TRAINING: 300,
  DEPLOYMENT: 60,
  QUERYING: 60,
  CLUSTERING: 60,
  RECOMMENDATION: 600,
};

/** Returns the maximum duration of a job, and the error message for a job that takes longer. */
export function limitOf(kind: JobType): { readonly ms: number; readonly message: string } {
  const minutes = limitMinutes[kind];
  const message =
    `The job was ended after ${minutes} minutes, the maximum for ` +
    `a ${kind.toLowerCase()} job. Submit one that has less to do.`;
  return { ms: minutes * 60_000, message };
}

/** Returns the type of job whose time limit applies to a task. */
function jobTypeOf(task: TaskKind): JobType {
  const isMaintenance = task === "REMOVE_USERS" || task === "COPY_LOG" || task === "SCRUB";
  if (task === "PREVIEW" || isMaintenance) return "QUERYING";
  if (task === "RECOMMENDATION_FILE") return "RECOMMENDATION";
  return task === "TRAINING_DATA" || task === "TRAINED_MODEL" ? "TRAINING" : task;
}

/** How long an idle thread is kept. */
const idleMs = 60_000;

interface Request {
  readonly task: Task;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: (progress: unknown) => void;
}

interface Idle {
  readonly worker: Worker;
  readonly module: string;
  readonly since: number;
}

/** Pool of worker threads. Each runs one task at a time, and tasks wait until their lane has a free thread. */
export class Pool {
  private readonly waiting: Request[] = [];
  private readonly busy = new Map<Worker, { readonly request: Request; readonly since: number }>();
  private readonly idle: Idle[] = [];
  private readonly lanes: readonly Lane[];
  readonly share: Share;

  constructor(
    private readonly context: Pick<
      ServiceContext,
      "options" | "store" | "files" | "closing" | "clock" | "log"
    >,
  ) {
    this.lanes = lanesOf(context.options);
    this.share = shareOf(context.options.threads);
  }

  /** Current number of threads. */
  get threads(): number {
    return this.busy.size + this.idle.length;
  }

  /** Runs a task in a thread. If the signal is aborted, the thread is ended and the reason of the signal is thrown. */
  async run<K extends TaskKind>(
    task: Task<K> & { readonly kind: K },
    signal?: AbortSignal,
    onProgress: (progress: TaskProgress<K>) => void = () => {},
  ): Promise<TaskResult<K>> {
    signal?.throwIfAborted();
    if (this.context.closing.aborted) throw new Error("The service is closing.");
    let end = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const request: Request = {
          task,
          resolve: resolve as Request["resolve"],
          reject,
          onProgress: onProgress as Request["onProgress"],
        };
        end = () => this.cancel(request, signal?.reason);
        signal?.addEventListener("abort", end);
        this.waiting.push(request);
        this.startWaiting();
      });
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  /** Ends threads that have been idle for a while, and threads whose task takes too long. */
  check(): void {
    const now = this.context.clock.now();
    while (this.idle[0] && this.idle[0].since + idleMs <= now) {
      const { worker } = this.idle.shift() as Idle;
      void endThread(worker);
    }
    for (const { request, since } of [...this.busy.values()]) {
      const { ms, message } = limitOf(jobTypeOf(request.task.kind));
      if (since + ms <= now) this.cancel(request, new JobError(message));
    }
  }

  private cancel(request: Request, error: Error): void {
    const at = this.waiting.indexOf(request);
    if (at >= 0) this.waiting.splice(at, 1);
    request.reject(error);
    const [worker] = [...this.busy].find(([, busy]) => busy.request === request) ?? [];
    if (!worker) return;
    this.end(worker, error);
    void endThread(worker);
  }

  /** Ends all threads, busy or not. */
  async close(): Promise<void> {
    for (const { reject } of this.waiting.splice(0)) reject(new Error("The service is closing."));
    const workers = [...this.idle.map(({ worker }) => worker), ...this.busy.keys()];
    await Promise.all(workers.map(endThread));
  }

  private startWaiting(): void {
    for (const request of [...this.waiting]) {
      const lane = this.lanes.find(({ tasks }) => tasks.includes(request.task.kind)) as Lane;
      const taken = [...this.busy.values()].filter((one) =>
        lane.tasks.includes(one.request.task.kind),
      ).length;
      if (taken >= lane.jobs) continue;
      this.waiting.splice(this.waiting.indexOf(request), 1);
      try {
        const { module = defaultModule } = lane;
        const worker = this.takeIdle(module) ?? this.start(module);
        worker.ref();
        this.busy.set(worker, { request, since: this.context.clock.now() });
        worker.postMessage(request.task);
      } catch (error) {
        request.reject(error as Error);
      }
    }
    const trainings = [...this.busy.values()].filter(({ request }) => request.task.kind === "TRAINING");
    Atomics.store(this.share.trainings, 0, trainings.length);
  }

  private takeIdle(module: string): Worker | undefined {
    const at = this.idle.findLastIndex((entry) => entry.module === module);
    return at < 0 ? undefined : this.idle.splice(at, 1)[0]?.worker;
  }

  private start(module: string): Worker {
    const worker = startThread(modulePath(module), {
      workerData: { database: this.context.store.location, location: this.context.files.location },
      ...threadOptions(),
      env: process.env,
    });
    worker.on("message", (message: Message) => {
      const request = this.busy.get(worker)?.request;
      // A thread that is being ended may still send messages.
      if (!request) return;
      if ("progress" in message) {
        request.onProgress(message.progress);
        return;
      }
      if ("waiting" in message) {
        this.context.log.error({ err: message.waiting }, "cannot save a trained model; trying again");
        return;
      }
      this.busy.delete(worker);
      this.idle.push({ worker, module, since: this.context.clock.now() });
      worker.unref();
      if ("result" in message) request.resolve(message.result);
      else if (message.expected) request.reject(new JobError(message.message));
      else request.reject(Object.assign(new Error(message.message), message.code && { code: message.code }));
      this.startWaiting();
    });
    worker.on("error", (error) => this.end(worker, error as Error));
    worker.on("exit", (code) =>
      this.end(worker, new Error(`The worker thread ended unexpectedly, with exit code ${code}.`)),
    );
    return worker;
  }

  /** Removes a thread from the pool. Its task fails. */
  private end(worker: Worker, error: Error): void {
    const at = this.idle.findIndex((entry) => entry.worker === worker);
    if (at >= 0) this.idle.splice(at, 1);
    this.busy.get(worker)?.request.reject(error);
    this.busy.delete(worker);
    if (!this.context.closing.aborted) this.startWaiting();
  }
}
