import { systemClock } from "../base/clock";
import type { Files } from "../files/storage/files";
import { DatabaseEventSource } from "../serving/database-events";
import { Deployed } from "../serving/deployed";
import { MemoryEventSource } from "../serving/memory-events";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";
import { build } from "../threads/build";
import type { RecommendationTask } from "../threads/recommendation";

/** Models that are loaded in this thread. */
interface Opened {
  readonly deployed: Deployed;
  /** The event dataset's count of deletions before anything was read. */
  readonly deletions: number;
}

/** Loads models in this thread as a deployment does, whether they are deployed or not. */
export async function openModels(db: Db, files: Files, task: RecommendationTask): Promise<Opened> {
  const { data, generator, ranker, rules, projectId, job } = task;
  const source = eventSource(db, data, task.isShared);
  const built = await build(db, files, {
    kind: "DEPLOYMENT",
    data,
    generator,
    ranker,
    withEvents: source.needsAllEvents,
  });
  const row = {
    project_id: projectId,
    job_id: job.id,
    generator_model_id: generator.modelId,
    ranker_model_id: ranker?.modelId ?? null,
    qps: 1,
    rules,
  };
  const context = {
    store: { db },
    files,
    clock: systemClock,
    share: () => 1,
    sources: ranker ? [generator, ranker] : [generator],
    metrics: { vectors: { inc: () => undefined } },
    // The next attempt loads the models without the forgotten user.
    log: { error: fail },
    onStale: () => undefined,
  };
  const deployed = new Deployed(built, data, row, context, source);
  await deployed.rules?.prepare();
  return { deployed, deletions: built.forgottenUntil };
}

/** Ends the attempt with the error that would be logged while serving. */
function fail(fields: unknown): never {
  throw (fields as { readonly err: unknown }).err;
}

/** Reads events as a deployment does. A job is not notified of later writes, so it uses the events of its start. */
function eventSource(db: Db, data: ProjectData, isShared: boolean) {
  if (!isShared) return new MemoryEventSource(data, () => () => undefined);
  // The job uses the models that it was submitted with, whatever is deployed meanwhile.
  const onOutdated = () => undefined;
  return new DatabaseEventSource(db, data, {
    onOutdated,
    onSeveral: async () => undefined,
    onShutDown: onOutdated,
  });
}
