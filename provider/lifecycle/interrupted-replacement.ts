import type { Settings } from "../../client/settings";
import { truncate } from "../../contract/messages";
import { idNamedByUser } from "../recovery/adoption";
import { lostCallOf } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { isSealed } from "../run/sealed-value";
import type { Properties, ReplacedEntry } from "../run/state-entry";
import { isOfPlugin } from "../run/urn";
import { verifiedLocation } from "./account-proof";
import { compare, fieldsOf } from "./arguments";
import type { Declaration, Definition } from "./definition";
import { canRead } from "./observation";
import { warningOf } from "./replacement";

// If the create of a replacement gets no response, the engine stores its placeholder as the current resource, and will
// delete the original after the next create. If the program then declares the original's arguments again, that create
// returns the original, so the engine's deletion of the former entry finds the object in use and keeps it.

/** Declaration whose settings have been read. */
type Configured = Declaration & { readonly settings: Settings };

/** Resource with a placeholder in the state: its id, its stored arguments, and those in the program. */
interface LostCreate {
  readonly id: string;
  readonly olds: Properties;
  readonly news: Properties;
}

/**
 * Diffs a resource whose id is a placeholder. The create is repeated with its key, its object is adopted, or the
 * original is kept. All of these change the id, so the resource is replaced.
 */
export async function replacePlaceholder(definition: Definition, declaration: Configured, lost: LostCreate) {
  const { run, urn } = declaration;
  run.replacedByDiff.add(urn);
  run.placeholders.set(urn ?? "", lost.id);
  await decideOnOriginals(definition, declaration, lost);
  const replaces = Object.keys(definition.args.shape).slice(0, 1);
  return { changes: true, changed: replaces, replaces };
}

/** Returns the outputs of the original, updated to the declared arguments. Undefined if it is not to be kept. */
export async function keepOriginal(
  definition: Definition,
  args: Properties,
  context: Context,
): Promise<(Properties & { id: string }) | undefined> {
  const original = context.run.keptOriginals.get(context.urn);
  if (!original) return undefined;
  const { id, replacedState: state } = original;
  const isGone =
    (await canRead(definition, context)) && (await definition.read?.(id, state, context)) === undefined;
  if (isGone) return undefined;
  const { effective } = compare(definition, id, state, args);
  const outputs =
    definition.update && effective.length > 0
      ? await definition.update(id, state, args, context)
      : (fieldsOf(definition.outputs, state) as Properties);
  return { ...outputs, id };
}

/** Keeps the original if the program declares its arguments again. Otherwise warns that it will be deleted. */
async function decideOnOriginals(
  definition: Definition,
  declaration: Configured,
  { id: placeholder, olds, news }: LostCreate,
): Promise<void> {
  const { run, urn, settings } = declaration;
  const originals = await originalsOf(declaration);
  const isReverted =
    compare(definition, placeholder, olds, news).effective.length > 0 && idNamedByUser(urn) === undefined;
  const kept = isReverted ? originals.find((original) => canKeep(definition, original, news)) : undefined;
  if (kept && (await verifiedLocation(kept, kept.replacedState, settings)) !== "gone") {
    run.keptOriginals.set(urn, kept);
    await log.info(
      urn,
      `keeping ${truncate(kept.id)}: an interrupted run was to replace it, and the program declares its arguments again`,
    );
    return;
  }
  for (const { id, replacedState } of originals) {
    const { replaces } = compare(definition, id, replacedState, news);
    const prevention = `To keep ${truncate(id)}, which an interrupted run was to replace, declare its former arguments again.`;
    const warning = warningOf(
      definition,
      declaration,
      { id, olds: replacedState, news, replaces },
      prevention,
    );
    if (warning) await log.warn(urn, warning);
  }
}

/** Returns the entries of the resource that wait for deletion and reference an object, the latest first. */
async function originalsOf({ run, urn = "" }: Declaration): Promise<ReplacedEntry[]> {
  const entries = await run.stackState.entriesNamed(urn);
  return entries.filter(
    (entry): entry is ReplacedEntry =>
      entry.replacedState !== undefined &&
      lostCallOf(entry.id) === undefined &&
      isOfPlugin(entry.urn) === isOfPlugin(urn),
  );
}

/**
 * Whether an original meets the declaration without a replacement. Records and deployments are left out: their state
 * alone does not show what the service contains.
 */
function canKeep(
  definition: Definition,
  { id, replacedState: state }: ReplacedEntry,
  news: Properties,
): boolean {
  if (definition.unsettled || state.__partial) return false;
  // The exported state has secrets only in encrypted form.
  if (Object.values(fieldsOf(definition.outputs, state)).some(isSealed)) return false;
  return compare(definition, id, state, news).replaces.length === 0;
}
