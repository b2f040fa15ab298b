import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import { isEnabled, type Settings } from "../../client/settings";
import { type Route, routes } from "../../contract";
import { lostCallOf } from "../recovery/unknown-creation";
import { accountOf, type VisibleObjects } from "../run/account";
import { log } from "../run/engine";
import { sharedPromise } from "../run/promises";
import { openSession, type Session } from "../run/session";
import type { Properties, StateEntry } from "../run/state-entry";
import { type Location, locationOf } from "./location";

/** Facts that show whether a resource is in the configured account. */
export interface AccountEvidence {
  /**
   * Whether the state entry was written with the configured API key. "unknown" for embedded services and state of older
   * versions.
   */
  readonly key: "same" | "different" | "unknown";
  /** Whether the user has confirmed the account with RECOMMENDER_SERVICE_MOVED. */
  readonly confirmedSame?: boolean;
  /** Whether the configured key can read objects that the stack created with the different key. */
  readonly visible?: VisibleObjects;
}

/**
 * Decision about the account of a resource. `same`: continue; `search`: read objects from the service first; `reject`:
 * stop the run.
 */
export type AccountVerdict = "same" | "search" | "reject";

/**
 * Decides whether a resource is in the configured account. With the key of a different account, all objects of the
 * stack would seem deleted and would be created again. A new key of the same account can still read the stack's
 * objects.
 */
export function accountVerdict({ key, confirmedSame, visible }: AccountEvidence): AccountVerdict {
  if (key !== "different" || confirmedSame) return "same";
  if (visible === undefined) return "search";
  return visible === "none" ? "reject" : "same";
}

/** Maximum number of objects to read per resource type. */
const maxReads = 10;

/** Call that reads the object of a state entry. */
interface ObjectReader {
  readonly route: Route;
  request(entry: StateEntry): object;
}

/**
 * Readers by resource type. Some routes are extensions, which other services may lack. Models come first, because every
 * service may report when they were created.
 */
const readers: Readonly<Record<string, ObjectReader>> = {
  Model: { route: routes.getModel, request: ({ id, projectId }) => ({ projectId, modelId: id }) },
  EventDataset: { route: routes.getEventDataset, request: ({ id }) => ({ eventDatasetId: id }) },
  UserDataset: { route: routes.getUserDataset, request: ({ id }) => ({ userDatasetId: id }) },
  ItemDataset: { route: routes.getItemDataset, request: ({ id }) => ({ itemDatasetId: id }) },
  Project: { route: routes.getProject, request: ({ id }) => ({ projectId: id }) },
  Algorithm: { route: routes.getAlgorithm, request: ({ id, projectId }) => ({ projectId, algorithmId: id }) },
};

/**
 * Returns whether an object is still in the configured service. Throws if it is in a different service or account,
 * because it would seem deleted.
 */
export async function verifiedLocation(
  entry: StateEntry,
  properties: Properties,
  settings: Settings,
): Promise<Location> {
  const location = await locationOf(properties, settings);
  if (location === "here") await rejectOtherAccount(entry, settings);
  return location;
}

async function rejectOtherAccount(entry: StateEntry, settings: Settings): Promise<void> {
  const [then, now] = [entry.account, accountOf(settings)];
  const key = then === undefined || now === undefined ? "unknown" : then === now ? "same" : "different";
  const evidence: AccountEvidence = { key, confirmedSame: isEnabled(process.env.RECOMMENDER_SERVICE_MOVED) };
  let verdict = accountVerdict(evidence);
  if (verdict === "search") {
    const session = await openSession(settings);
    const search = () => findObjects(session, entry);
    const visible = await sharedPromise(session.run.visibleByAccount, then as string, search);
    verdict = accountVerdict({ ...evidence, visible });
  }
  if (verdict === "same") return;
  throw new Error(
    `This resource was created with a different API key at ${settings.baseUrl}, and none of this stack's objects are ` +
      "visible with the configured key, so it probably belongs to another account. Configure the previous key with " +
      "recommender:apiKey or RECOMMENDER_API_KEY. If the account is the same, run `RECOMMENDER_SERVICE_MOVED=1 pulumi refresh --run-program`.",
  );
}

/**
 * Reads objects that the stack created with the same key as an entry, until the service returns one of them. An object
 * of another account may have the same id, so its name and number of shards must match the state. A model with a
 * different creation time proves that the account is a different one.
 */
async function findObjects({ client, run }: Session, of: StateEntry): Promise<VisibleObjects> {
  const stored = await run.stackState.entries(of).catch(() => []);
  const created = [of, ...stored].filter(({ account, id }) => account === of.account && !lostCallOf(id));
  let hasRead = false;
  for (const [type, { route, request }] of Object.entries(readers)) {
    // The project id is unknown if the state encrypts it.
    const isKnown = (entry: StateEntry) => !Object.values(request(entry)).includes(undefined);
    const known = created.filter((entry) => entry.type === type && isKnown(entry)).slice(0, maxReads);
    if (known.length === 0 || !(await isOffered(client, route))) continue;
    hasRead = true;
    for (const entry of known) {
      const found = await undefinedIfMissing<unknown>(client.call(route, request(entry) as never));
      if (found && isOtherModel(entry, found as object)) return "none";
      if (found && isObjectOf(entry, found as object)) return "some";
    }
  }
  if (hasRead) return "none";
  await log.warn(
    of.urn,
    "This stack was created with a different API key, and the service cannot show any of its objects to prove that the " +
      "account is the same. The run continues with the configured key; `pulumi refresh` stores the new key.",
  );
  return "unknown";
}

/** Whether an object was created at a different time than the one in a state entry, as far as both times are known. */
function isOtherModel({ createdTs }: StateEntry, found: Pick<Partial<StateEntry>, "createdTs">): boolean {
  return createdTs !== undefined && found.createdTs != null && found.createdTs !== createdTs;
}

/** Whether an object has the name and the number of shards in a state entry, as far as they are known. */
function isObjectOf(entry: StateEntry, found: Pick<Partial<StateEntry>, "name" | "numShards">): boolean {
  const isEqual = (key: "name" | "numShards") =>
    entry[key] === undefined || found[key] == null || entry[key] === found[key];
  return isEqual("name") && isEqual("numShards");
}
