import * as threads from "node:worker_threads";
import { TooLargeError } from "../algorithms";
import { JobError } from "../base/job-error";
import type { Files, Location } from "../files/storage/files";
import { openFiles } from "../files/storage/open";
import { connect, type Db } from "../store/database";
import { outageCode } from "../store/postgres-errors";

/** Message from a thread: progress, the reason why it waits for the storage, the result, or an error. */
export type Message =
  | { readonly progress: unknown }
  | { readonly waiting: string }
  | { readonly result: unknown }
  | { readonly message: string; readonly expected: boolean; readonly code?: string };

/** Access of a thread's tasks to the store, and their reports. */
interface Tools {
  readonly db: Db;
  readonly files: Files;
  onProgress(progress: unknown): void;
  onWait(reason: string): void;
}

/**
 * Runs tasks, one at a time, if this is a worker thread. Tasks write the files of models and results. All other writes
 * to the database are up to the main thread.
 */
export function listen<Task>(run: (task: Task, tools: Tools) => Promise<unknown>): void {
  const port = threads.parentPort;
  if (!port) return;
  const { database, location } = threads.workerData as { database: string; location: Location };
  const tools: Tools = {
    db: connect(database, { primaryOnly: true }),
    files: openFiles(location),
    onProgress: (progress) => port.postMessage({ progress } satisfies Message),
    onWait: (waiting) => port.postMessage({ waiting } satisfies Message),
  };
  port.on("message", async (task: Task) => {
    try {
      const result = await run(task, tools);
      port.postMessage({ result } satisfies Message, buffersOf(result));
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown };
      const text = outageCode(error) ?? code;
      const known = typeof text === "string" ? { code: text } : {};
      const expected = error instanceof JobError || error instanceof TooLargeError;
      port.postMessage({ message, expected, ...known } satisfies Message);
    }
  });
}

/**
 * Whether memory cannot be transferred to another thread. Small arrays may be in a memory pool of Node, and since Node
 * 21, transferring the pool throws.
 */
const { isMarkedAsUntransferable: isUntransferable = () => false } = threads as {
  isMarkedAsUntransferable?(memory: ArrayBufferLike): boolean;
};

/** Returns the memory of all typed arrays, to transfer it instead of copying. */
function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (!isUntransferable(value.buffer)) found.add(value.buffer as ArrayBuffer);
  } else if (Array.isArray(value) && typeof value[0] !== "object") return [...found];
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) buffersOf(member, found);
  return [...found];
}
