import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import type { OrphanType, Route } from "../../contract";
import { id } from "../../contract/field";
import { truncate } from "../../contract/messages";
import { createOnce } from "../recovery/create-once";
import type { Context } from "../run/context";
import type { Properties } from "../run/state-entry";
import { fieldsOf, knownFields, withDefaults } from "./arguments";
import { type Definition, idOutput } from "./definition";
import { lifecycle } from "./lifecycle";
import type { Lifecycle } from "./protocol";

/** Resource type whose objects the API can only create. */
interface WriteOnce extends Pick<Definition, "type" | "complete"> {
  /** Object type in messages. */
  readonly objectType: string;
  readonly orphanType: OrphanType;
  /** Fields of the request. */
  readonly fields: z.ZodObject;
  /** Outputs besides the id. */
  readonly outputs?: z.ZodRawShape;
  readonly create: Route;
  /** Extension of the API that reads an object. */
  readonly get: Route;
  /** Consequence of a replacement, as a sentence. */
  readonly consequence: string;
}

/**
 * Lifecycle of objects that the API cannot change or delete: each change orphans the old object. The service of this
 * package can read such objects. Adoption compares an object with its declaration, because the object cannot be changed
 * later.
 */
export function writeOnce(resource: WriteOnce): Lifecycle {
  const { type, complete, objectType, orphanType, fields, get } = resource;
  const idKey = idOutput(type);
  const outputs = z.object({ [idKey]: id, ...resource.outputs });
  const find = (given: string, args: Properties, { client }: Context) => {
    const request = fieldsOf(get.request as z.ZodObject, { ...args, [idKey]: given });
    return undefinedIfMissing(client.call(get, request)) as Promise<object | undefined>;
  };
  /** Returns the reported values that differ from the known arguments and outputs. Null equals absent. */
  const differing = (found: object, known: Properties) =>
    Object.entries(found).filter(([key, value]) => {
      if (value === undefined || !(key in fields.shape || key in known)) return false;
      return !isDeepStrictEqual(value ?? null, known[key] ?? null);
    });
  return lifecycle<Properties, Properties>({
    type,
    args: fields.extend({ existingId: id.optional() }),
    outputs,
    orphanType,
    replaceOn: Object.keys(fields.shape),
    replacementWarning: ({ title, reason }) =>
      `Replacing ${title}: ${reason}. The API cannot change or delete the old object, so it is ` +
      `orphaned. ${resource.consequence}`,
    ...(complete && { complete }),
    calls: () => ({ create: [resource.create] }),

    async create(args, context) {
      const { reply } = await createOnce(context, {
        route: resource.create,
        request: fieldsOf(fields, withDefaults(fields, args)),
        idOf: (created) => (created as Properties)[idKey] as string,
      });
      const reported = knownFields(fieldsOf(outputs, reply as object)) as Properties;
      return { ...reported, id: reported[idKey] as string };
    },

    readWith: get,

    async read(given, state, context) {
      const found = await find(given, state, context);
      return found && { ...state, ...Object.fromEntries(differing(found, state)) };
    },

    async assertAdoptable(given, args, context) {
      if (!(await isOffered(context.client, get))) return;
      const shown = `existingId ${truncate(given)}`;
      const found = await find(given, args, context);
      if (!found) throw new Error(`${shown}: there is no such ${objectType} in this account`);
      const changes = differing(found, args);
      if (changes.length === 0) return;
      const actual = changes.map(([key, value]) => `${key}: ${truncate(JSON.stringify(value ?? null))}`);
      throw new Error(
        `${shown}: the ${objectType} differs from the declaration and cannot be changed; declare ${actual.join(", ")}`,
      );
    },

    adopt: async (given) => ({ [idKey]: given }),
  });
}
