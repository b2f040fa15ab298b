import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import { isEnabled, type Settings } from "../../client/settings";
import { type Route, routes } from "../../contract";
import { lostCallOf } from "../recovery/unknown-creation";
import { accountOf, type VisibleObjects } from "../run/account";
import { log } from "../run/engine";
import { openSession, type Session } from "../run/session";
import type { Properties, StateEntry } from "../run/state-entry";
import { type Location, locationOf } from "./location";

/** The facts about the account that a resource belongs to. */
export interface AccountEvidence {
  /** Whether the resource was written with the configured key; "unknown" in state of older versions. */
  readonly key: "same" | "different" | "unknown";
  /** Whether the user has said that it is the same account, with RECOMMENDER_SERVICE_MOVED. */
  readonly confirmedSame?: boolean;
  /** What the configured key shows of the objects that the stack created with the other key. */
  readonly visible?: VisibleObjects;
}

/** Whether the configured account is the one of a resource: `look` asks the service, `refuse` stops the run. */
export type AccountVerdict = "same" | "search" | "reject";

/**
 * Decides whether a resource may be looked for in the configured account. With the key of another account everything of
 * the stack seems to be gone at once, and would be created again. A key that was replaced in the same account still shows
 * what the stack created.
 */
export function accountVerdict({ key, confirmedSame, visible }: AccountEvidence): AccountVerdict {
  if (key !== "different" || confirmedSame) return "same";
  if (visible === undefined) return "search";
  return visible === "none" ? "reject" : "same";
}

/** How many objects of a type are read one by one. */
const readsAtMost = 10;

/** How to read an object by its row. */
interface ObjectReader {
  readonly route: Route;
  request(row: StateEntry): object;
}

/** The types of objects that a service can show. Some routes are extensions, which other services do not have. */
const readers: Readonly<Record<string, ObjectReader>> = {
  EventDataset: { route: routes.getEventDataset, request: ({ id }) => ({ eventDatasetId: id }) },
  UserDataset: { route: routes.getUserDataset, request: ({ id }) => ({ userDatasetId: id }) },
  ItemDataset: { route: routes.getItemDataset, request: ({ id }) => ({ itemDatasetId: id }) },
  Project: { route: routes.getProject, request: ({ id }) => ({ projectId: id }) },
  Algorithm: { route: routes.getAlgorithm, request: ({ id, projectId }) => ({ projectId, algorithmId: id }) },
  Model: { route: routes.getModel, request: ({ id, projectId }) => ({ projectId, modelId: id }) },
};

/** Finds out where a row belongs; refuses a row of another service or account, which would seem to be gone. */
export async function verifiedLocation(
  row: StateEntry,
  properties: Properties,
  settings: Settings,
): Promise<Location> {
  const where = await locationOf(properties, settings);
  if (where === "here") await rejectOtherAccount(row, settings);
  return where;
}

async function rejectOtherAccount(row: StateEntry, settings: Settings): Promise<void> {
  const [then, now] = [row.account, accountOf(settings)];
  const key = then === undefined || now === undefined ? "unknown" : then === now ? "same" : "different";
  const evidence: AccountEvidence = { key, confirmedSame: isEnabled(process.env.RECOMMENDER_SERVICE_MOVED) };
  let verdict = accountVerdict(evidence);
  if (verdict === "search") {
    const session = await openSession(settings);
    const { visibleByAccount } = session.run;
    const proof = visibleByAccount.get(then as string) ?? findObjects(session, row);
    visibleByAccount.set(then as string, proof);
    proof.catch(() => visibleByAccount.delete(then as string));
    verdict = accountVerdict({ ...evidence, visible: await proof });
  }
  if (verdict === "same") return;
  throw new Error(
    `This resource was created with another API key at ${settings.baseUrl}, and the configured key shows nothing of ` +
      "this stack: it seems to be the key of another account. Configure the former key with recommender:apiKey or " +
      "RECOMMENDER_API_KEY. If the account is the same, run `RECOMMENDER_SERVICE_MOVED=1 pulumi refresh --run-program`.",
  );
}

/** Looks for the objects that the stack created with the key of a row, until the service shows one. */
async function findObjects({ client, run }: Session, of: StateEntry): Promise<VisibleObjects> {
  const stored = await run.stackState.entries(of).catch(() => []);
  const ours = [of, ...stored].filter(({ account, id }) => account === of.account && !lostCallOf(id));
  let isAsked = false;
  for (const [type, { route, request }] of Object.entries(readers)) {
    const known = ours.filter((row) => row.type === type).map(request);
    // The project of a row is not known if the state keeps it secret.
    const requests = known.filter((each) => !Object.values(each).includes(undefined)).slice(0, readsAtMost);
    if (requests.length === 0 || !(await isOffered(client, route))) continue;
    isAsked = true;
    for (const each of requests)
      if (await undefinedIfMissing<unknown>(client.call(route, each as never))) return "some";
  }
  if (isAsked) return "none";
  await log.warn(
    of.urn,
    "This stack was created with another API key, and the service can show none of its objects to prove that the " +
      "account is the same. The run continues with the configured key; `pulumi refresh` stores the new key.",
  );
  return "unknown";
}
