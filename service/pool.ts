import { Worker } from "node:worker_threads";
import type { Context } from "./context";
import { JobError } from "./job-error";
import { ownFile, threadArguments } from "./own-file";
import type { Answer, Task, TaskKind, TaskResult } from "./worker";

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Threads for the mathematics: each takes one task at a time and is kept for the next. */
export class Pool {
  private readonly idle: Worker[] = [];
  private readonly busy = new Map<Worker, Waiting>();

  constructor(private readonly context: Pick<Context, "store" | "folder" | "log" | "closing">) {}

  /** Carries out a task in a thread of its own. */
  run<K extends TaskKind>(task: Task<K> & { readonly kind: K }): Promise<TaskResult<K>> {
    if (this.context.closing.aborted) return Promise.reject(new Error("The service is closing."));
    const worker = this.idle.pop() ?? this.start();
    worker.ref();
    return new Promise((resolve, reject) => {
      this.busy.set(worker, { resolve: resolve as Waiting["resolve"], reject });
      worker.postMessage(task);
    });
  }

  /** Ends all threads, whatever they are at. */
  async close(): Promise<void> {
    await Promise.all([...this.idle, ...this.busy.keys()].map((worker) => worker.terminate()));
  }

  private start(): Worker {
    const worker = new Worker(ownFile("worker"), {
      workerData: { databaseFile: this.context.store.file, folder: this.context.folder.path },
      execArgv: threadArguments(),
    });
    worker.on("message", (answer: Answer) => {
      const waiting = this.busy.get(worker);
      this.busy.delete(worker);
      this.idle.push(worker);
      worker.unref();
      if ("result" in answer) waiting?.resolve(answer.result);
      else waiting?.reject(answer.expected ? new JobError(answer.message) : new Error(answer.message));
    });
    const gone = (error: Error) => {
      const at = this.idle.indexOf(worker);
      if (at >= 0) this.idle.splice(at, 1);
      this.busy.get(worker)?.reject(error);
      this.busy.delete(worker);
    };
    worker.on("error", gone);
    worker.on("exit", (code) => gone(new Error(`The job's thread ended with code ${code}.`)));
    return worker;
  }
}
