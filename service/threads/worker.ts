import * as threads from "node:worker_threads";
import { TooLargeError } from "../algorithms";
import { JobError } from "../base/job-error";
import { removeForgotten } from "../files/remove-users";
import type { Location } from "../files/storage/files";
import { openFiles } from "../files/storage/open";
import { connect } from "../store/database";
import { outageCode } from "../store/postgres-errors";
import { copyLog, scrub } from "../store/write-ahead-log";
import { type Build, type BuildTask, build } from "./build";
import { type ClusteringTask, cluster } from "./cluster";
import { type Previewed, type PreviewTask, preview } from "./preview";
import { type QueryingTask, query } from "./query";
import { type Progress, type Trained, type TrainingTask, train } from "./train";
import { storeTrainedModel, type TrainedModelTask } from "./trained-model";
import { type TrainingData, type TrainingDataTask, writeTrainingData } from "./training-data";

interface Tasks {
  TRAINING: { task: TrainingTask; result: Trained };
  TRAINING_DATA: { task: TrainingDataTask; result: TrainingData };
  TRAINED_MODEL: { task: TrainedModelTask; result: Trained };
  DEPLOYMENT: { task: BuildTask; result: Build };
  QUERYING: { task: QueryingTask; result: { message: string | null } };
  CLUSTERING: { task: ClusteringTask; result: { message: string | null } };
  PREVIEW: { task: PreviewTask; result: Previewed[] };
  REMOVE_USERS: { task: RemoveUsersTask; result: number | undefined };
  COPY_LOG: { task: LogTask<"COPY_LOG">; result: unknown };
  SCRUB: { task: LogTask<"SCRUB">; result: boolean };
}

/** A task to remove forgotten users from the file of a model. */
interface RemoveUsersTask {
  readonly kind: "REMOVE_USERS";
  readonly modelId: string;
}

/** A task to copy the write-ahead log into the database, or to empty the log, which also erases deleted rows. */
interface LogTask<K> {
  readonly kind: K;
}

/** Kinds of tasks that a thread can run. */
export type TaskKind = keyof Tasks;
export type Task<K extends TaskKind = TaskKind> = Tasks[K]["task"];
export type TaskResult<K extends TaskKind> = Tasks[K]["result"];

/** Message from a thread: progress, the reason why it waits for the storage, the result, or an error. */
export type Message =
  | { readonly progress: Progress }
  | { readonly waiting: string }
  | { readonly result: unknown }
  | { readonly message: string; readonly expected: boolean; readonly code?: string };

/**
 * Runs tasks, one at a time. Tasks write the files of models and results. All other writes to the database are up to
 * the main thread.
 */
function listen(port: threads.MessagePort): void {
  const { database, location } = threads.workerData as { database: string; location: Location };
  const db = connect(database, { primaryOnly: true });
  const files = openFiles(location);
  const onProgress = (progress: Progress) => port.postMessage({ progress } satisfies Message);
  const onWait = (waiting: string) => port.postMessage({ waiting } satisfies Message);
  const run = (task: Task): Promise<unknown> => {
    if (task.kind === "TRAINING") return train(db, files, task, onProgress, onWait);
    if (task.kind === "TRAINING_DATA") return writeTrainingData(db, task);
    if (task.kind === "TRAINED_MODEL") return storeTrainedModel(files, task, onWait);
    if (task.kind === "DEPLOYMENT") return build(db, files, task);
    if (task.kind === "PREVIEW") return preview(db, files, task);
    if (task.kind === "REMOVE_USERS") return removeForgotten(db, files, task.modelId);
    if (task.kind === "COPY_LOG") return copyLog(db);
    if (task.kind === "SCRUB") return scrub(db);
    return task.kind === "QUERYING" ? query(db, files, task) : cluster(db, files, task);
  };
  port.on("message", async (task: Task) => {
    try {
      const result = await run(task);
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

if (threads.parentPort) listen(threads.parentPort);
