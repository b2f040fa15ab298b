import type { z } from "zod";
import type { ResourceDefinition } from "./definition";

/** Returns the common part of definitions whose objects the API cannot change or delete: each change orphans the old object. */
export function writeOnce<S extends z.ZodObject>(
  fields: S,
  consequence: string,
): Pick<ResourceDefinition<object, object>, "replacementWarning"> & {
  replaceOn: readonly (keyof S["shape"] & string)[];
} {
  return {
    replaceOn: Object.keys(fields.shape),
    replacementWarning: ({ title, reason }) =>
      `Replacing ${title}: ${reason}. The API cannot change or delete the old object, so it is ` +
      `orphaned. ${consequence}`,
  };
}
