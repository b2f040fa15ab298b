import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import type { Route } from "../../contract";
import { truncate } from "../../contract/messages";
import { lostCallOf } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import type { ResourceDefinition } from "./definition";
import { withTitle } from "./titled";

/** Whether the service lets this caller read a kind of object back. */
export async function canRead<Args extends object, Outputs extends object>(
  { read, readWith }: Pick<ResourceDefinition<Args, Outputs>, "read" | "readWith">,
  { client }: Pick<Context, "client">,
): Promise<boolean> {
  return read !== undefined && (readWith === undefined || isOffered(client, readWith));
}

/** The state of an object as the service reports it. `not seen`: the service cannot be asked, so nothing is known. */
export async function observe<Args extends object, Outputs extends object>(
  definition: ResourceDefinition<Args, Outputs>,
  id: string,
  state: Args & Outputs,
  open: () => Promise<Context>,
): Promise<(Args & Outputs) | "gone" | "not seen"> {
  if (!definition.read || lostCallOf(id)) return "not seen";
  const context = await open();
  return withTitle(context, async () => {
    if (!(await canRead(definition, context))) return "not seen";
    return (await definition.read?.(id, state, context)) ?? "gone";
  });
}

/** How an operation beyond the specification reads objects that the specification can only create. */
interface Reading<Fields extends z.ZodObject> {
  /** What the object is called in messages. */
  readonly definition: string;
  readonly route: Route;
  /** The arguments that the service reports. */
  readonly fields: Fields;
  /** What the service reports of the object; rejects with the service's error if there is none. */
  get(id: string, args: z.output<Fields>, context: Context): Promise<object>;
}

/**
 * Reads objects that the specification can only create, on a service that has the operation. Adoption compares the object
 * with its declaration there, because nothing of the object can be changed later.
 */
export function readWithExtension<Fields extends z.ZodObject>({
  definition,
  route,
  fields,
  get,
}: Reading<Fields>) {
  type Args = z.output<Fields>;
  /** What is reported with another value: arguments, and outputs that the state has. Absent and null are the same. */
  const differing = (found: object, known: object) =>
    Object.entries(found).filter(([key, value]) => {
      if (value === undefined || !(key in fields.shape || key in known)) return false;
      return !isDeepStrictEqual(value ?? null, (known as Record<string, unknown>)[key] ?? null);
    });
  const find = (id: string, args: Args, context: Context) => undefinedIfMissing(get(id, args, context));
  return {
    readWith: route,

    async read<State extends Args>(id: string, state: State, context: Context): Promise<State | undefined> {
      const found = await find(id, state, context);
      return found && { ...state, ...Object.fromEntries(differing(found, state)) };
    },

    async assertAdoptable(id: string, args: Args, context: Context): Promise<void> {
      if (!(await isOffered(context.client, route))) return;
      const shown = `existingId ${truncate(id)}`;
      const found = await find(id, args, context);
      if (!found) throw new Error(`${shown}: there is no such ${definition} in this account`);
      const changes = differing(found, args);
      if (changes.length === 0) return;
      const actual = changes.map(([key, value]) => `${key}: ${truncate(JSON.stringify(value ?? null))}`);
      throw new Error(
        `${shown}: the ${definition} differs from the declaration and cannot be changed; declare ${actual.join(", ")}`,
      );
    },
  };
}
