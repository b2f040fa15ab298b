import { logicalName } from "../run/urn";

/** Names what lost calls have created, as in `users=user-dataset-1,clicks=event-dataset-2`. */
const variable = "RECOMMENDER_ADOPT";

/**
 * The id of the object that, according to the user, a lost call of a resource has created. It counts only while the outcome
 * of a call is in doubt: the variable may still be set when the resource is created for another reason.
 */
export function idNamedByUser(urn: string | undefined): string | undefined {
  const given = process.env[variable];
  if (!given || !urn) return undefined;
  const name = `${logicalName(urn)}=`;
  const pairs = given.split(",").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) || undefined;
}

/** The user has named the object that a lost call created: the lifecycle of the resource adopts it like any other. */
export class AdoptionByUser extends Error {
  override readonly name = "NamedByUser";

  constructor(
    readonly id: string,
    /** Ends the doubt about the call, once the object is adopted. */
    readonly settle: () => Promise<void>,
  ) {
    super(`RECOMMENDER_ADOPT names ${id}, which this resource cannot adopt`);
  }
}
