import type { JsonMap } from "../../contract";
import {
  InteractionsBuilder,
  measureExposure,
  NotEnoughEventsError,
  type TrainingProgress,
  type TypedPairs,
  trainG1,
} from "../algorithms";
import { IdIndex } from "../base/id-index";
import { JobError } from "../base/job-error";
import { saveModel } from "../files/models";
import type { Files } from "../files/storage/files";
import type { Db } from "../store/database";
import { chooseTypes } from "../store/event-types";
import type { ProjectData } from "../store/project-data";
import { attributeTable, eachEvent, snapshot } from "../store/snapshot";
import { parametersOf, type Report, reportOf } from "./parameters";
import type { Share } from "./share";
import { ThreadTeam } from "./team";
import { existingDeletions } from "./training-data";

/** A training for a thread to run. */
export interface TrainingTask {
  readonly kind: "TRAINING";
  readonly data: ProjectData;
  readonly parameters: JsonMap;
  readonly modelId: string;
  readonly share: Share;
}

/** Progress of a training. */
export interface Progress extends Omit<TrainingProgress, "phase"> {
  readonly phase: TrainingProgress["phase"] | "read";
}

/** Result of a training. The model is stored in a file. */
export interface Trained {
  readonly report: Report;
  /** The event dataset's count of deletions when the data was read. */
  readonly seenDeletions: number;
}

/** Trains a model on the current events and stores it. */
export async function train(
  db: Db,
  files: Files,
  { data, parameters, modelId, share }: TrainingTask,
  onProgress: (progress: Progress) => void,
  onWait: (reason: string) => void,
): Promise<Trained> {
  onProgress({ phase: "read", fraction: 0, quality: null });
  const users = new IdIndex();
  const items = new IdIndex();
  const given = parametersOf(parameters);
  const builders = new Map([[data.targetEventType, new InteractionsBuilder()]]);
  const { seenDeletions, ...tables } = await snapshot(db, async (frozen) => {
    const deletions = await existingDeletions(frozen, data);
    const userAttributes = await attributeTable(frozen, data.users, users);
    const itemAttributes = await attributeTable(frozen, data.items, items);
    const types = given.eventWeights
      ? [data.targetEventType, ...Object.keys(given.eventWeights)]
      : await chooseTypes(frozen, data);
    await eachEvent(
      frozen,
      data,
      types,
      (userId, itemId, value, ts, type) => {
        const builder = builders.get(type) ?? new InteractionsBuilder();
        builders.set(type, builder);
        builder.add(users.add(userId), items.add(itemId), value, ts);
      },
      { withTime: true },
    );
    return { userAttributes, itemAttributes, seenDeletions: deletions };
  });
  // Random draws depend on the order of users and items. Sort them, so the same data gives the same model.
  const [sortedUsers, sortedItems] = [users.sorted(), items.sorted()];
  for (const builder of builders.values()) builder.renumber(sortedUsers.numbers, sortedItems.numbers);
  tables.userAttributes.records.renumber(sortedUsers.numbers);
  tables.itemAttributes.records.renumber(sortedItems.numbers);
  const team = new ThreadTeam(share.threads, share);
  try {
    const [{ interactions }, ...others] = [...builders].map(([type, builder]) => ({
      type,
      interactions: builder.build(sortedUsers.ids.length, sortedItems.ids.length),
    })) as [TypedPairs, ...TypedPairs[]];
    // Frees memory before the training, which takes long.
    builders.clear();
    const learned = trainG1({ interactions, others, ...tables }, given, onProgress, team);
    const exposure = measureExposure(learned, interactions);
    const model = { ...learned, report: { ...learned.report, exposure } };
    const ids = { userIds: sortedUsers.ids, itemIds: sortedItems.ids };
    await saveModel(files, modelId, { model, ...ids }, onWait);
    return { report: reportOf(model), seenDeletions };
  } catch (error) {
    if (!(error instanceof NotEnoughEventsError)) throw error;
    throw nothingToLearn(data);
  } finally {
    await team.close();
  }
}

/** Returns the error for a project without target events. */
export function nothingToLearn({ targetEventType }: ProjectData): JobError {
  return new JobError(
    `There is nothing to learn from: the event dataset has no event of type ${JSON.stringify(targetEventType)} ` +
      "with a value above 0. Upsert some and submit the job again.",
  );
}
