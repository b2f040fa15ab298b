import { removeForgotten } from "../files/remove-users";
import type { Chunk } from "../store/chunks";
import { copyLog, scrub } from "../store/write-ahead-log";
import { type Build, type BuildTask, build } from "./build";
import { type ClusteringTask, cluster } from "./cluster";
import { listen } from "./listen";
import { type Previewed, type PreviewTask, preview } from "./preview";
import { type QueryingTask, query } from "./query";
import type { RecommendationFileTask, RecommendationTask, WrittenFile } from "./recommendation";
import { type Progress, type Trained, type TrainingTask, train } from "./train";
import { storeTrainedModel, type TrainedModelTask } from "./trained-model";
import { type TrainingData, type TrainingDataTask, writeTrainingData } from "./training-data";

interface Tasks {
  TRAINING: { task: TrainingTask; result: Trained; progress: Progress };
  TRAINING_DATA: { task: TrainingDataTask; result: TrainingData };
  TRAINED_MODEL: { task: TrainedModelTask; result: Trained };
  DEPLOYMENT: { task: BuildTask; result: Build };
  QUERYING: { task: QueryingTask; result: { message: string | null } };
  CLUSTERING: { task: ClusteringTask; result: { message: string | null } };
  PREVIEW: { task: PreviewTask; result: Previewed[] };
  RECOMMENDATION: { task: RecommendationTask; result: unknown; progress: Chunk };
  RECOMMENDATION_FILE: { task: RecommendationFileTask; result: WrittenFile };
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

/** Progress that a thread reports while it runs a task. */
export type TaskProgress<K extends TaskKind> = K extends TaskKind
  ? Tasks[K] extends { progress: infer P }
    ? P
    : never
  : never;

/** Tasks that `service/batch/worker.ts` runs. */
type BatchTask = RecommendationTask | RecommendationFileTask;

listen<Exclude<Task, BatchTask>>((task, { db, files, onProgress, onWait }) => {
  if (task.kind === "TRAINING") return train(db, files, task, onProgress, onWait);
  if (task.kind === "TRAINING_DATA") return writeTrainingData(db, task);
  if (task.kind === "TRAINED_MODEL") return storeTrainedModel(files, task, onWait);
  if (task.kind === "DEPLOYMENT") return build(db, files, task);
  if (task.kind === "PREVIEW") return preview(db, files, task);
  if (task.kind === "REMOVE_USERS") return removeForgotten(db, files, task.modelId);
  if (task.kind === "COPY_LOG") return copyLog(db);
  if (task.kind === "SCRUB") return scrub(db);
  return task.kind === "QUERYING" ? query(db, files, task) : cluster(db, files, task);
});
