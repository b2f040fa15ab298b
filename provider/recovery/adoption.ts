import { truncate } from "../../contract/messages";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { mayBeSameService } from "../run/state-entry";
import { isSameResource, logicalName, partsOf, resourceTypeOf, titleInStack, titleOf } from "../run/urn";

/**
 * Environment variable with the ids of objects that calls without a response have created, such as
 * `users=user-dataset-1,clicks=event-dataset-2`.
 */
const variable = "RECOMMENDER_ADOPT";

/**
 * Returns the id that RECOMMENDER_ADOPT contains for a resource. Use it only while the outcome of a call is in doubt:
 * the variable may still be set when the resource is created for a different reason.
 */
export function idNamedByUser(urn: string | undefined): string | undefined {
  if (!urn) return undefined;
  const name = logicalName(urn);
  return named().find((pair) => pair.name === name)?.id || undefined;
}

/**
 * Returns an error if RECOMMENDER_ADOPT gives one object to two resources or two objects to one resource, or if
 * RECOMMENDER_CREATE_AGAIN names a resource in it.
 */
export function adoptionFault(): string | undefined {
  const pairs = named();
  for (const [at, { name, id }] of pairs.entries()) {
    const other = pairs.slice(0, at).find((pair) => pair.id === id || pair.name === name);
    if (!other || (other.id === id && other.name === name)) continue;
    return other.id === id
      ? `${variable} gives ${truncate(id)} to both ${other.name} and ${name}, but a call creates an object for one resource. Remove one of them from the variable.`
      : `${variable} gives both ${truncate(other.id)} and ${truncate(id)} to ${name}. Remove one of them from the variable.`;
  }
  const again = namesToCreateAgain();
  const both = pairs.find(({ name }) => again.includes(name));
  return (
    both &&
    `${variable} and ${againVariable} both name ${both.name}, but its object is either adopted or created again. ` +
      "Remove it from one of the variables."
  );
}

/**
 * Environment variable with the names of the resources to create again after a call without a response, or `1` for all.
 */
const againVariable = "RECOMMENDER_CREATE_AGAIN";

/** Returns the names in RECOMMENDER_CREATE_AGAIN. */
export function namesToCreateAgain(): string[] {
  return (process.env[againVariable] ?? "").split(",").map((name) => name.trim());
}

function named(): { readonly name: string; readonly id: string }[] {
  const pairs = (process.env[variable] ?? "").split(",").map((pair) => pair.trim());
  return pairs.flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 ? [{ name: pair.slice(0, at).trim(), id: pair.slice(at + 1).trim() }] : [];
  });
}

/**
 * Throws if RECOMMENDER_ADOPT names an object of a different kind, or an object that another resource references in any
 * stack of the backend.
 */
export async function rejectHeld(id: string, { urn = "", run, settings }: Context): Promise<void> {
  const type = resourceTypeOf(partsOf(urn).type) ?? "";
  const form = formOf(id);
  if (form !== undefined && !formsOf(type).includes(form))
    throw new Error(
      `Cannot adopt ${truncate(id)} for ${titleOf(partsOf(urn))}: it is the id of a different kind of object (${form}). ` +
        `Correct the id in ${variable}.`,
    );
  const { entries, unread } = await run.stackState.allStacks();
  const holder = entries.find(
    (entry) =>
      entry.id === id &&
      kindOf(entry.type) === kindOf(type) &&
      !isSameResource(entry.urn, urn) &&
      mayBeSameService(entry, { service: settings.baseUrl }),
  );
  if (!holder) {
    const states = `the state of ${unread.join(", ")}`;
    if (unread.length > 0)
      await log.warn(
        urn,
        `Cannot read ${states}, so it is unknown whether another stack uses ${truncate(id)}.`,
      );
    return;
  }
  const { stack } = partsOf(holder.urn);
  throw new Error(
    `Cannot adopt ${truncate(id)}: ${titleInStack(holder.urn)} already uses it. ` +
      `To create a new object: \`RECOMMENDER_CREATE_AGAIN=${logicalName(urn)} pulumi up\`. ` +
      `To use ${truncate(id)} here instead, first remove ` +
      `it from that stack: \`pulumi state delete '${holder.urn}' --stack ${stack}\`.`,
  );
}

const forms = ["user-dataset", "item-dataset", "event-dataset", "project", "algorithm", "model", "job"];

/** Returns the kind of object that an id's prefix shows, such as `user-dataset`. Undefined if the prefix is unknown. */
function formOf(id: string): string | undefined {
  return forms.find((form) => id.startsWith(`${form}-`));
}

/** Returns the id prefixes that a resource type accepts. For a training job, the id of its model is accepted too. */
function formsOf(type: string): string[] {
  const form = type.replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase();
  return forms.includes(form) && form !== "model" ? [form] : ["model", "job"];
}

/**
 * Returns the kind of object that a resource type references. Jobs and their results are one kind, because either id
 * can be adopted.
 */
function kindOf(type: string): string {
  return /Dataset$|Records$|^Project$|^Algorithm$/.test(type) ? type : "job";
}

/**
 * Thrown by a create if the user has named the object that a lost call created. The lifecycle then adopts that object.
 */
export class AdoptionByUser extends Error {
  override readonly name = "AdoptionByUser";

  constructor(
    readonly id: string,
    /** Settles the call in the journal after the adoption. */
    readonly settle: () => Promise<void>,
  ) {
    super(`Cannot adopt ${id} from RECOMMENDER_ADOPT: this resource type does not support adoption`);
  }
}
