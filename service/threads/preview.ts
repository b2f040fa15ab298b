import { Recommender } from "../algorithms";
import { type ModelSource, readRow, readServable } from "../files/models";
import type { Files } from "../files/storage/files";
import type { Db } from "../store/database";
import { forgottenSince } from "../store/forgotten";
import type { ProjectData } from "../store/project-data";

/** A task to compute recommendations with a model, whether it is deployed or not. */
export interface PreviewTask {
  readonly kind: "PREVIEW";
  readonly data: ProjectData;
  readonly model: ModelSource;
  readonly userIds: readonly string[];
  readonly limit: number;
}

/** Recommendations for one user. */
export interface Previewed {
  /** Whether the user had events when the model was trained. Users without events get the most popular items. */
  readonly isKnown: boolean;
  readonly itemIds: readonly string[];
}

/** Recommends items to users with a model as it was trained, without the items that the users had at that time. */
export async function preview(
  db: Db,
  files: Files,
  { data, model, userIds, limit }: PreviewTask,
): Promise<Previewed[]> {
  const { seenDeletions } = model;
  const forgottenUsers = () => forgottenSince(db, data.events.id, seenDeletions);
  const stored = await readServable(files, model, await forgottenUsers());
  // Reading takes long, so more users may have been forgotten meanwhile.
  const forgotten = await forgottenUsers();
  const recommender = new Recommender(stored.model, stored.model.itemVectors);
  const previewed: Previewed[] = [];
  for (const id of userIds) {
    const user = forgotten.has(id) ? -1 : stored.userIds.indexOf(id);
    const preferences = user < 0 ? null : recommender.learnedPreferences(user);
    const row = preferences ? await readRow(files, model, stored.rows?.[user] ?? user) : undefined;
    const best = recommender.top(preferences, limit, row?.items);
    const itemIds = best.map((item) => stored.itemIds[item] as string);
    previewed.push({ isKnown: preferences !== null, itemIds });
  }
  return previewed;
}
