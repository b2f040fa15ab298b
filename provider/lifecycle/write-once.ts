import type { z } from "zod";
import type { ResourceDefinition } from "./definition";

/** What definitions share that the API cannot read, change or delete: a change makes another one and orphans this one. */
export function writeOnce<S extends z.ZodObject>(
  fields: S,
  consequence: string,
): Pick<ResourceDefinition<object, object>, "replacementWarning"> & {
  replaceOn: readonly (keyof S["shape"] & string)[];
} {
  return {
    replaceOn: Object.keys(fields.shape),
    replacementWarning: ({ title, reason }) =>
      `Replacing ${title}: ${reason}. The API cannot change it; the old one is orphaned, as the API ` +
      `cannot delete it. ${consequence}`,
  };
}
