import type { Input, Reply, Route } from "../../contract";
import { truncate } from "../../contract/messages";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { mayBeSameService } from "../run/state-entry";
import { isSameResource, partsOf, resourceTypeOf, titleInStack } from "../run/urn";
import type { AnyCreation } from "./creation";
import { createdBy } from "./evidence";
import type { JournalEntry } from "./journal";

/** Returns why a reply cannot be the response to our create, or undefined if it can be. */
export async function whyNotOurs(
  context: Context,
  creation: AnyCreation,
  entry: Pick<JournalEntry, "before">,
  reply: Reply<Route>,
  sent: Input<Route>,
): Promise<string | undefined> {
  const doubt = await whyNotNew(context, creation, entry, creation.idOf(reply));
  return doubt ?? creation.contradiction?.(reply, sent);
}

/**
 * Returns why the object in the reply to a create cannot be the one that the call created, or undefined. A gateway may
 * repeat an old reply, so the id must be new. No state entry in the backend may reference it, and no other create of
 * this run may have returned it. A call with a derived key may return the object that its own resource references.
 */
async function whyNotNew(
  context: Context,
  { route, request, key }: AnyCreation,
  { before = [] }: Pick<JournalEntry, "before">,
  id: string,
): Promise<string | undefined> {
  const { run, urn = "", settings } = context;
  const isDerived = key !== undefined;
  const created = createdBy(run, route);
  if (!isDerived && created.has(id))
    return `the response names ${truncate(id)}, like an earlier response in this run`;
  // Add the id now, so parallel creates see it while this one waits for the states.
  created.add(id);
  const type = resourceTypeOf(partsOf(urn).type) ?? "";
  const kind = route.path.startsWith("/submit-") ? jobs : type;
  // The service may give the id of a deleted object to a new one.
  if (run.claims.hasReleased({ type, id, service: settings.baseUrl })) return undefined;
  if (before.includes(id)) return `the response names ${truncate(id)}, which existed before the call`;
  const { projectId } = request as { readonly projectId?: string };
  const { entries, unread } = await run.entriesOfAllStacks();
  const holder = entries.find(
    (entry) =>
      entry.id === id &&
      idKindOf(entry.type) === kind &&
      (projectId === undefined || entry.projectId === undefined || entry.projectId === projectId) &&
      !(isDerived && isSameResource(entry.urn, urn)) &&
      mayBeSameService(entry, { service: settings.baseUrl }),
  );
  if (holder) return `the response names ${truncate(id)}, which ${titleInStack(holder.urn)} uses`;
  if (unread.length > 0)
    await log.debug(urn, `the state of ${unread.join(", ")} may reference ${truncate(id)}`);
  return undefined;
}

const jobs = "job";

/** Returns the kind of object that an id in the state belongs to. Ids of different kinds may be equal. */
function idKindOf(type: string): string {
  return /Job$|^User(Query|Clustering|Recommendations)$/.test(type) ? jobs : type;
}
