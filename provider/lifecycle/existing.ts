import { isOutage, isUnreachable } from "../../client/errors";
import { type OrphanType, type Reply, routes } from "../../contract";
import { truncate } from "../../contract/messages";
import { AdoptionByUser } from "../recovery/adoption";
import { reportOrphans } from "../recovery/earlier-run";
import { type LostCall, lostCallOf } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { originHeaders } from "../run/origin";
import type { Properties, StateEntry } from "../run/state-entry";
import { titleInStack } from "../run/urn";
import type { Definition } from "./definition";
import { keepOriginal } from "./interrupted-replacement";
import { canRead, explainingAbsence } from "./observation";

/** Returns why the object that `existingId` names cannot be adopted, or undefined. An outage only causes a warning. */
export async function adoptionError(
  definition: Definition,
  inputs: Properties,
  open: () => Promise<Context>,
): Promise<string | undefined> {
  const { existingId } = inputs as { existingId?: string };
  if (existingId === undefined || !definition.assertAdoptable) return undefined;
  const context = await open();
  try {
    await definition.assertAdoptable(existingId, inputs, context);
  } catch (error) {
    const { message } = error as Error;
    if (isUnreachable(error)) throw error;
    const named = message.includes("existingId");
    if (!isOutage(error)) return named ? message : `existingId ${truncate(existingId)}: ${message}`;
    await log.warn(context.urn, `could not check existingId ${truncate(existingId)}: ${message}`);
  }
  return undefined;
}

/**
 * Creates the object of a resource, or adopts the object that `existingId` or RECOMMENDER_ADOPT names. Creates nothing
 * if the program has reverted an interrupted replacement.
 */
export async function createOrAdopt(
  definition: Definition,
  args: Properties,
  context: Context,
): Promise<Properties & { id: string }> {
  const { existingId } = args as { existingId?: string };
  if (existingId && definition.adopt) return adoptGiven(definition, existingId, args, context);
  const kept = await keepOriginal(definition, args, context);
  if (kept) return kept;
  try {
    return await definition.create(args, context);
  } catch (error) {
    if (!(error instanceof AdoptionByUser)) throw error;
    const adopted = await adoptGiven(definition, error.id, args, context);
    await error.settle();
    return adopted;
  }
}

async function adoptGiven(
  definition: Definition,
  given: string,
  args: Properties,
  context: Context,
): Promise<Properties & { id: string }> {
  if (!definition.adopt)
    throw new Error(`Cannot adopt ${truncate(given)}: this resource type does not support adoption`);
  if (!(await canRead(definition, context)))
    await log.warn(
      context.urn,
      `${context.title}: ${truncate(given)} is adopted without verification: the API cannot read it.`,
    );
  await definition.assertAdoptable?.(given, args, context);
  const adopted = { id: given, ...(await definition.adopt(given, args, context)) };
  await reportOrphans(context, given);
  if (definition.orphanType) await recordUse(adopted.id, definition.orphanType, false, context);
  // The adoption also settles an earlier call without a response, because the user has decided about it.
  const lost = lostCallOf(context.run.placeholders.get(context.urn ?? ""));
  if (lost) context.run.resolvedCalls.add(lost.key);
  return adopted;
}

/** Reports that an object is kept because another state entry references it, in this stack or another one. */
export async function reportStillUsed(user: StateEntry, id: string, context: Context): Promise<void> {
  const { urn } = user;
  if (context.run.claims.isOfOtherStack(user)) {
    await log.warn(context.urn, `keeping ${truncate(id)}: ${titleInStack(urn)} uses it`);
    return;
  }
  const by = urn === context.urn ? "its replacement" : urn;
  await log.info(context.urn, `keeping ${truncate(id)}: ${by} uses it`);
}

/** Deletes the object of a resource, or leaves it in the service if the API cannot delete it. */
export async function deleteOrOrphan(
  definition: Definition,
  id: string,
  state: Properties,
  context: Context,
): Promise<void> {
  if (!definition.delete) return orphan(id, definition.orphanType, context);
  return explainingAbsence(id, context.urn, async () => definition.delete?.(id, state, context));
}

/**
 * Leaves an object in the service because the API cannot delete it. If the service has a list of orphans, adds the
 * object to it for a later deletion, unless another stack uses the object.
 */
async function orphan(id: string, type: OrphanType | undefined, context: Context): Promise<void> {
  const { urn, title } = context;
  const recorded = type && (await recordUse(id, type, true, context));
  if (recorded?.orphaned === false) {
    const stacks = recorded.heldBy ?? [];
    const one = stacks.length > 0 ? `stack ${stacks[0]} uses` : "another program uses";
    const users = stacks.length > 1 ? `stacks ${stacks.join(" and ")} use` : one;
    await log.info(urn, `keeping ${truncate(id)}: ${users} it`);
    return;
  }
  const next = recorded
    ? `Delete it with \`recommender orphans delete ${truncate(id)}\`.`
    : "The API cannot delete it.";
  await log.warn(urn, `${title} (${truncate(id)}) is orphaned: it stays in the service. ${next}`);
}

/** Reports that an object may be orphaned, because its create got no response. */
export async function orphanLostCreation(lost: LostCall, entry: StateEntry, context: Context): Promise<void> {
  const { resolvedCalls, claims } = context.run;
  // If the resource has moved to the other binding, that binding has already reported the call.
  if (resolvedCalls.has(lost.key) || (await claims.isMovedToOtherBinding(entry))) return;
  await reportOrphans(context);
  const what = `the create call at ${lost.at} got no response`;
  await log.warn(
    context.urn,
    `${context.title}: ${what}; if it succeeded and you have not adopted its object, the object is orphaned`,
  );
}

/**
 * Records whether this stack uses an object. Returns undefined if the service has no list of orphans, or on failure.
 */
async function recordUse(
  id: string,
  objectType: OrphanType,
  orphaned: boolean,
  context: Context,
): Promise<Reply<typeof routes.markOrphaned> | undefined> {
  const { client, urn } = context;
  const route = routes.markOrphaned;
  try {
    if (!(await client.supports(route))) return undefined;
    const headers = originHeaders(context, route);
    return await client.call(route, { objectType, objectId: id, orphaned }, headers ? { headers } : {});
  } catch (error) {
    const { message } = error as Error;
    if (orphaned) await log.debug(urn, `could not mark ${truncate(id)}: ${message}`);
    else
      await log.warn(
        urn,
        `could not record that this stack uses ${truncate(id)}: ${message}. ` +
          "If another stack stops using it, the service may list it as orphaned.",
      );
    return undefined;
  }
}
