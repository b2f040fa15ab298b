import { Recommender, servable } from "../algorithms";
import { type ModelSource, readModel, withoutForgotten } from "../files/models";
import type { Files } from "../files/places/files";
import type { Db } from "../store/database";
import type { ProjectData } from "../store/project-data";

/** Recommendations of a model that need not serve, as a thread finds them. */
export interface PreviewTask {
  readonly kind: "PREVIEW";
  readonly data: ProjectData;
  readonly model: ModelSource;
  readonly userIds: readonly string[];
  readonly limit: number;
}

/** What a model recommends to one user. */
export interface Previewed {
  /** Whether the user had events when it was trained; others get what is popular. */
  readonly isKnown: boolean;
  readonly itemIds: readonly string[];
}

/** What a model recommends to users as it was trained, without what they had then. */
export async function preview(
  db: Db,
  files: Files,
  { data, model, userIds, limit }: PreviewTask,
): Promise<Previewed[]> {
  const stored = await withoutForgotten(db, await readModel(files, model.modelId), data, model);
  const recommender = new Recommender(servable(stored.model), stored.model.itemVectors);
  const { start, index } = stored.model.interactions;
  return userIds.map((id) => {
    const user = stored.userIds.indexOf(id);
    const taste = user < 0 ? null : recommender.learnedTaste(user);
    const had = taste ? index.subarray(start[user], start[user + 1]) : [];
    const best = recommender.top(taste, limit, had);
    return { isKnown: taste !== null, itemIds: best.map((item) => stored.itemIds[item] as string) };
  });
}
