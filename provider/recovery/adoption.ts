import { logicalName } from "../run/urn";

/** Variable with the ids that calls without a response created: `users=user-dataset-1,clicks=event-dataset-2`. */
const variable = "RECOMMENDER_ADOPT";

/**
 * Returns the id in RECOMMENDER_ADOPT for a resource. Use it only while the outcome of a call is in doubt: the variable may
 * still be set when the resource is created for a different reason.
 */
export function idNamedByUser(urn: string | undefined): string | undefined {
  const given = process.env[variable];
  if (!given || !urn) return undefined;
  const name = `${logicalName(urn)}=`;
  const pairs = given.split(",").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(name))?.slice(name.length) || undefined;
}

/** Thrown by a create if the user names the object that a lost call created. The lifecycle then adopts it. */
export class AdoptionByUser extends Error {
  override readonly name = "NamedByUser";

  constructor(
    readonly id: string,
    /** Settles the call in the journal after the adoption. */
    readonly settle: () => Promise<void>,
  ) {
    super(`Cannot adopt ${id} from RECOMMENDER_ADOPT: this resource type does not support adoption`);
  }
}
