import type { Files } from "../files/storage/files";
import type { Db } from "../store/database";
import { existingUsers, usersInOrder } from "../store/users";
import { listUsers } from "../threads/query";
import type { RecommendationTask } from "../threads/recommendation";

const pageUsers = 512;

/**
 * Returns the users of a job in pages, in an order that is the same for each attempt. Leaves out ids that have neither a
 * record nor events, such as those of forgotten users.
 *
 * @param after the last user that earlier attempts have written
 */
export async function* usersAfter(
  db: Db,
  files: Files,
  task: RecommendationTask,
  after: string | undefined,
): AsyncGenerator<readonly string[]> {
  const { data, generator: model, asked } = task;
  const listed = task.userIds ?? (asked.query && (await listUsers(db, files, { data, model }, asked.query)));
  if (!listed) return yield* usersInOrder(db, data, after ?? "", pageUsers);
  const left = listed.filter((id) => after === undefined || id > after).sort(byCodeUnits);
  yield* existingUsers(db, data, left, pageUsers);
}

/** Orders ids as `>` compares them. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
