import type { Context } from "../run/context";
import { logicalName } from "../run/urn";
import { entriesOf, straysOf } from "./journal";

/** Names what lost calls have created, as in `users=user-dataset-1,clicks=event-dataset-2`. */
const variable = "RECOMMENDER_ADOPT";

/**
 * The id of the object that the user says a lost call has created. Only a resource in doubt asks for it: the variable may
 * still be set when the resource is created for another reason.
 */
export function adoptedByUser({ urn, run }: Context): string | undefined {
  const given = process.env[variable];
  if (!given || !urn) return undefined;
  const name = `${logicalName(urn)}=`;
  const pairs = given.split(",").map((pair) => pair.trim());
  const id = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  const isInDoubt = () => run.placeholders.has(urn) || entriesOf(urn).length > 0 || straysOf(urn).length > 0;
  return id && isInDoubt() ? id : undefined;
}
