import type { Caller } from "../running";
import { shopRecords } from "../shop";

/** Without attributes, only events distinguish users, so a forgotten user gets the recommendations of an unknown one. */
export const records = (() => {
  const { users, ...others } = shopRecords();
  return { ...others, users: users.map((user) => ({ ...user, attributes: {} as typeof user.attributes })) };
})();
/** The user who is forgotten. */
export const forgotten = "u3";

/** Returns the recommendations of a project. Default: the only deployed one. */
export async function idsFor(api: Caller, userId: string, projectId?: string): Promise<string[]> {
  const base = projectId === undefined ? {} : { base: `${api.service.url}/serving/${projectId}` };
  const { results } = await api.call("recommendItemsToUser", { userId, limit: 1000 }, base);
  return results.map(({ item }) => item.itemId);
}
