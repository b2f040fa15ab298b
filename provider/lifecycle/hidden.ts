import { z } from "zod";
import { parseJson } from "../../client/parse";
import { issuesText, truncate } from "../../contract/messages";
import type { HiddenProperties, Properties } from "../run/state-entry";

const texts = z.array(z.string());
const json = z.string().refine((text) => parseJson(text) !== undefined, "expected JSON");

/** What `HiddenProperties` says, to be checked: anybody can edit a state, and a program may say anything. */
const hidden = z
  .looseObject({
    __provider: z.string(),
    __urn: z.string(),
    __made: z.string(),
    __service: z.string(),
    __instance: z.string(),
    __account: z.string(),
    __partial: z.boolean(),
    __unknown: z.string(),
    __rollbackOf: z.string(),
    __firstName: z.string(),
    __named: z.boolean(),
    __replaceOn: texts,
    __secret: texts,
    __unresolved: texts,
    __inferred: json,
    __upload: z.string(),
    __superseded: texts,
    __trainedMs: z.number(),
  } satisfies Record<keyof HiddenProperties, z.ZodType>)
  .partial();

/** What the classes of this package and the plugin add to the arguments of a declaration. */
export const hiddenInputs: readonly string[] = [
  "__provider",
  "__urn",
  "__firstName",
  "__named",
  "__replaceOn",
  "__secret",
  "__unresolved",
] satisfies readonly (keyof HiddenProperties)[];

/** Why a name is not one that a program may give an argument; undefined where it may. */
export function reservedNameError(name: string): string | undefined {
  if (!name.startsWith("__")) return undefined;
  return `${truncate(name)}: names that begin with __ are for this package itself; take it out of the program`;
}

/** Refuses hidden properties that this package has not written. */
export function rejectMalformed(properties: Properties): void {
  const { error } = hidden.safeParse(properties);
  if (!error) return;
  throw new Error(
    `${issuesText(error.issues)}. This package has not written that: take it out of the program, or correct the ` +
      "state with `pulumi state edit`.",
  );
}
