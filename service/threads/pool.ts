// threads/ does the long work of jobs off the API's thread.

import { Worker } from "node:worker_threads";
import { JobError } from "../base/job-error";
import { ownFile, threadOptions } from "../base/own-file";
import type { Basis, Options } from "../files/basis";
import type { JobType } from "../store/tables";
import { type Share, shareOf } from "./share";
import type { Progress } from "./train";
import type { Answer, Task, TaskKind, TaskResult } from "./worker";

/** Each lane has threads of its own, so that no kind waits behind another that takes longer. */
export interface Lane {
  readonly kinds: readonly JobType[];
  readonly tasks: readonly TaskKind[];
  /** How many of its jobs run at once. */
  readonly jobs: number;
}

/** The lanes of a process that may train in so many threads. */
export function lanesOf({ threads }: Pick<Options, "threads">): readonly Lane[] {
  const jobs = Math.max(1, threads >> 1);
  return [
    { kinds: ["TRAINING"], tasks: ["TRAINING", "TRAINING_DATA", "TRAINED_MODEL"], jobs },
    // One, so that deployments of a project come in the order of their jobs.
    { kinds: ["DEPLOYMENT"], tasks: ["DEPLOYMENT"], jobs: 1 },
    { kinds: ["QUERYING", "CLUSTERING"], tasks: ["QUERYING", "CLUSTERING", "PREVIEW"], jobs: 1 },
    // Calls wait for these tasks, so they must not wait for jobs.
    { kinds: [], tasks: ["REMOVE_USERS"], jobs: 1 },
    { kinds: [], tasks: ["COPY_LOG", "SCRUB"], jobs: 1 },
  ];
}

/** The longest that a job may take: what the specification names, with room to spare for the shorter kinds. */
const limitMinutes: Readonly<Record<JobType, number>> = {
  TRAINING: 300,
  DEPLOYMENT: 60,
  QUERYING: 60,
  CLUSTERING: 60,
};

/** The longest that a job may take, and what is said of one that takes longer. */
export function limitOf(kind: JobType): { readonly ms: number; readonly message: string } {
  const minutes = limitMinutes[kind];
  const message =
    `The job was ended after ${minutes} minutes, the longest that ` +
    `a ${kind.toLowerCase()} job may take; submit one that has less to do.`;
  return { ms: minutes * 60_000, message };
}

/** The kind of job that a task is done for, or is like. */
function jobTypeOf(task: TaskKind): JobType {
  const isOwn = task === "REMOVE_USERS" || task === "COPY_LOG" || task === "SCRUB";
  if (task === "PREVIEW" || isOwn) return "QUERYING";
  return task === "TRAINING_DATA" || task === "TRAINED_MODEL" ? "TRAINING" : task;
}

/** How long a thread without a task is kept for the next. */
const idleMs = 60_000;

interface Asked {
  readonly task: Task;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: (progress: Progress) => void;
}

/** Threads for the mathematics: each takes one task at a time; tasks wait until their lane has one free. */
export class Pool {
  private readonly waiting: Asked[] = [];
  private readonly busy = new Map<Worker, { readonly asked: Asked; readonly since: number }>();
  private readonly idle: { readonly worker: Worker; readonly since: number }[] = [];
  private readonly lanes: readonly Lane[];
  /** What all trainings share. */
  readonly share: Share;

  constructor(private readonly context: Pick<Basis, "options" | "store" | "files" | "closing" | "clock">) {
    this.lanes = lanesOf(context.options);
    this.share = shareOf(context.options.threads);
  }

  /** How many threads there are now. */
  get threads(): number {
    return this.busy.size + this.idle.length;
  }

  /** Carries out a task in a thread of its own, which ends with the signal: its reason is the task's error. */
  async run<K extends TaskKind>(
    task: Task<K> & { readonly kind: K },
    signal?: AbortSignal,
    onProgress: (progress: Progress) => void = () => {},
  ): Promise<TaskResult<K>> {
    signal?.throwIfAborted();
    if (this.context.closing.aborted) throw new Error("The service is closing.");
    let end = () => {};
    try {
      return await new Promise((resolve, reject) => {
        const asked: Asked = { task, resolve: resolve as Asked["resolve"], reject, onProgress };
        end = () => this.breakOff(asked, signal?.reason);
        signal?.addEventListener("abort", end);
        this.waiting.push(asked);
        this.startWaiting();
      });
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  /** Ends threads that have had nothing to do for a while, and those whose task takes too long. */
  check(): void {
    const now = this.context.clock.now();
    while (this.idle[0] && this.idle[0].since + idleMs <= now) void this.idle.shift()?.worker.terminate();
    for (const { asked, since } of [...this.busy.values()]) {
      const { ms, message } = limitOf(jobTypeOf(asked.task.kind));
      if (since + ms <= now) this.breakOff(asked, new JobError(message));
    }
  }

  private breakOff(asked: Asked, error: Error): void {
    const at = this.waiting.indexOf(asked);
    if (at >= 0) this.waiting.splice(at, 1);
    asked.reject(error);
    const [worker] = [...this.busy].find(([, busy]) => busy.asked === asked) ?? [];
    if (!worker) return;
    this.end(worker, error);
    void worker.terminate();
  }

  /** Ends all threads, whatever they are at. */
  async close(): Promise<void> {
    for (const { reject } of this.waiting.splice(0)) reject(new Error("The service is closing."));
    const workers = [...this.idle.map(({ worker }) => worker), ...this.busy.keys()];
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  private startWaiting(): void {
    for (const asked of [...this.waiting]) {
      const lane = this.lanes.find(({ tasks }) => tasks.includes(asked.task.kind)) as Lane;
      const taken = [...this.busy.values()].filter((one) => lane.tasks.includes(one.asked.task.kind)).length;
      if (taken >= lane.jobs) continue;
      this.waiting.splice(this.waiting.indexOf(asked), 1);
      try {
        const worker = this.idle.pop()?.worker ?? this.start();
        worker.ref();
        this.busy.set(worker, { asked, since: this.context.clock.now() });
        worker.postMessage(asked.task);
      } catch (error) {
        asked.reject(error as Error);
      }
    }
    const trainings = [...this.busy.values()].filter(({ asked }) => asked.task.kind === "TRAINING");
    Atomics.store(this.share.trainings, 0, trainings.length);
  }

  private start(): Worker {
    const worker = new Worker(ownFile("service/threads/worker"), {
      workerData: { database: this.context.store.place, location: this.context.files.location },
      ...threadOptions(),
      env: process.env,
    });
    worker.on("message", (answer: Answer) => {
      const asked = this.busy.get(worker)?.asked;
      // A thread that is being ended may still answer.
      if (!asked) return;
      if ("progress" in answer) {
        asked.onProgress(answer.progress);
        return;
      }
      this.busy.delete(worker);
      this.idle.push({ worker, since: this.context.clock.now() });
      worker.unref();
      if ("result" in answer) asked.resolve(answer.result);
      else if (answer.expected) asked.reject(new JobError(answer.message));
      else asked.reject(Object.assign(new Error(answer.message), answer.code && { code: answer.code }));
      this.startWaiting();
    });
    worker.on("error", (error) => this.end(worker, error as Error));
    worker.on("exit", (code) => this.end(worker, new Error(`The job's thread ended with code ${code}.`)));
    return worker;
  }

  /** Strikes a thread off; what it was at fails. */
  private end(worker: Worker, error: Error): void {
    const at = this.idle.findIndex((entry) => entry.worker === worker);
    if (at >= 0) this.idle.splice(at, 1);
    this.busy.get(worker)?.asked.reject(error);
    this.busy.delete(worker);
    if (!this.context.closing.aborted) this.startWaiting();
  }
}
