import { Recommender, servable } from "../../service/algorithms";
import { rowOf } from "../../service/algorithms/interactions";
import { topIndices } from "../../service/algorithms/top";
import { readModel } from "../../service/files/models";
import { openFiles } from "../../service/files/storage/open";

/**
 * Returns the share of the items with the highest scores that the lists of a service contain. Computes all scores with
 * the model in the service's data directory.
 */
export async function recallOf(
  directory: string,
  modelId: string,
  lists: ReadonlyMap<string, readonly string[]>,
): Promise<number> {
  const { model, userIds, itemIds } = await readModel(openFiles({ directory }), modelId);
  const recommender = new Recommender(servable(model));
  const users = new Map(userIds.map((id, user) => [id, user]));
  let [found, wanted] = [0, 0];
  for (const [id, list] of lists) {
    const user = users.get(id) ?? -1;
    const scores = recommender.scores(recommender.preferencesOf(user));
    for (const item of rowOf(model.interactions, user)) scores[item] = Number.NEGATIVE_INFINITY;
    const exact = new Set(topIndices(scores, list.length).map((item) => itemIds[item]));
    found += list.filter((item) => exact.has(item)).length;
    wanted += list.length;
  }
  return found / wanted;
}
