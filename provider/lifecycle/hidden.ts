import { issuesText, truncate } from "../../contract/messages";
import { hiddenProperties, type Properties } from "../run/state-entry";

/** Hidden properties that this package adds to the arguments of a resource. */
export const hiddenInputs: readonly string[] = [
  "__provider",
  "__urn",
  "__firstName",
  "__named",
  "__replaceOn",
  "__secret",
  "__unresolved",
  "__journal",
  "__sourceVersion",
] satisfies readonly (keyof typeof hiddenProperties.shape)[];

/** Returns an error if a program uses a reserved name. */
export function reservedNameError(name: string): string | undefined {
  if (!name.startsWith("__")) return undefined;
  return `${truncate(name)}: names that start with __ are reserved for this package; remove it from the program`;
}

/** Throws if a hidden property has the wrong type, because the user has edited the state or set it in a program. */
export function rejectMalformed(properties: Properties): void {
  const { error } = hiddenProperties.safeParse(properties);
  if (!error) return;
  throw new Error(
    `${issuesText(error.issues)}. Names that start with __ are reserved for this package: remove them from the ` +
      "program, or fix the state with `pulumi state edit`.",
  );
}
