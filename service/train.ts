import type { JsonMap } from "../contract";
import { InteractionsBuilder, NotEnoughEventsError, trainG1 } from "./algorithms";
import { JobError } from "./job-error";
import { saveModel } from "./model-file";
import { attributeTable, eachTargetEvent, Places, snapshot } from "./snapshot";
import type { Db } from "./store";
import { type ProjectData, parametersOf, reportOf } from "./training";

/** A training as a thread carries it out. */
export interface TrainingTask {
  readonly kind: "TRAINING";
  readonly data: ProjectData;
  readonly parameters: JsonMap;
  /** Where the model is kept. */
  readonly file: string;
}

/** Learns from the events as they stand now and keeps the model in its file. */
export async function train(
  db: Db,
  { data, parameters, file }: TrainingTask,
): Promise<ReturnType<typeof reportOf>> {
  const users = new Places();
  const items = new Places();
  const builder = new InteractionsBuilder();
  const tables = await snapshot(db, async (frozen) => {
    const userAttributes = await attributeTable(frozen, data.users, users);
    const itemAttributes = await attributeTable(frozen, data.items, items);
    await eachTargetEvent(frozen, data, (userId, itemId, value) =>
      builder.add(users.of(userId), items.of(itemId), value),
    );
    return { userAttributes, itemAttributes };
  });
  // Those who have events but no record have a place too.
  for (const [table, places] of [
    [tables.userAttributes, users],
    [tables.itemAttributes, items],
  ] as const) {
    (table.records as unknown[]).length = places.ids.length;
  }
  try {
    const interactions = builder.build(users.ids.length, items.ids.length);
    const model = trainG1({ interactions, ...tables }, parametersOf(parameters));
    saveModel(file, { model, userIds: users.ids, itemIds: items.ids });
    return reportOf(model);
  } catch (error) {
    if (!(error instanceof NotEnoughEventsError)) throw error;
    throw new JobError(
      `There is nothing to learn from: no event of type ${JSON.stringify(data.targetEventType)} with a value above 0 ` +
        "is in the project's event dataset; upsert some and submit the job again.",
    );
  }
}
