import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { Context } from "../run/context";
import { engineAddress } from "../run/engine";
import { usesPlan } from "../run/engine-command";
import { journalId } from "../run/journal-id";
import type { Step } from "../run/killed-step";
import type { Properties } from "../run/state-entry";

/** Parts of a resource definition that decide how a killed step is recognised. */
interface Killable {
  readonly args: z.ZodObject;
  readonly ignoreChanges?: readonly string[];
  /** Set for records and deployments. Their creates can be repeated safely, so they need no journal id. */
  readonly unsettled?: unknown;
}

/**
 * Adds the id of this machine's recovery journal to the arguments of a resource that is new or changes. The engine
 * notes the arguments in the state before it creates the resource. After a kill, the note shows which machine's journal
 * to look at.
 */
export function withJournalId(definition: Killable, olds: Properties, inputs: Properties): Properties {
  if (definition.unsettled || engineAddress() === undefined || usesPlan()) return inputs;
  const hasChanged = (key: string) => !isDeepStrictEqual(olds[key] ?? null, inputs[key] ?? null);
  const isNew = Object.keys(olds).length === 0;
  // An unchanged resource keeps its journal id, because a new id would cost a write of the state.
  const __journal = isNew || keysOf(definition).some(hasChanged) ? journalId() : olds.__journal;
  return { ...inputs, ...(__journal && { __journal }) };
}

/** Describes a create or update by the arguments that identify it. */
export function stepOf(definition: Killable, inputs: Properties, isCreate: boolean): Step {
  const ignored = [...(definition.ignoreChanges ?? []), "existingId"];
  const keys = keysOf(definition).filter((key) => !ignored.includes(key));
  return { isCreate, args: Object.fromEntries(keys.map((key) => [key, inputs[key]])) };
}

/**
 * Marks the killed creates of a resource as settled after this run has created it. Returns the properties that record
 * this in the state.
 */
export async function settledBy(definition: Killable, { urn, run }: Context): Promise<Properties> {
  const __superseded = definition.unsettled ? [] : await run.initial.settleCreates(urn);
  return __superseded.length > 0 ? { __superseded } : {};
}

/** Returns the hidden properties that an update keeps. */
export function keptBy({ unsettled }: Killable, { __made, __superseded }: Properties): Properties {
  return { ...(__made && { __made }), ...(!unsettled && __superseded && { __superseded }) };
}

function keysOf({ args }: Killable): string[] {
  return Object.keys(args.shape);
}
