import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../client/errors";
import { isGranted, isOffered } from "../../client/extensions";
import { mayMeanAbsent } from "../../client/finality";
import { shellQuote } from "../../client/shell-quote";
import type { Route } from "../../contract";
import { lostCallOf } from "../recovery/unknown-creation";
import type { Context } from "../run/context";
import type { Urn } from "../run/engine";
import type { Properties } from "../run/state-entry";
import type { Definition } from "./definition";
import { withTitle } from "./titled";

/** Whether the service supports reading objects of a resource type. */
export async function canRead(
  { read, readWith }: Pick<Definition, "read" | "readWith">,
  { client }: Pick<Context, "client">,
): Promise<boolean> {
  return read !== undefined && (readWith === undefined || isOffered(client, readWith));
}

/** Reads the current state of an object. Returns "not seen" if the service cannot show it. */
export async function observe(
  definition: Definition,
  id: string,
  state: Properties,
  open: () => Promise<Context>,
): Promise<Properties | "gone" | "not seen"> {
  if (!definition.read || lostCallOf(id)) return "not seen";
  const context = await open();
  return withTitle(context, async () => {
    if (!(await canRead(definition, context))) return "not seen";
    return explainingAbsence(
      id,
      context.urn,
      async () => (await definition.read?.(id, state, context)) ?? "gone",
    );
  });
}

/**
 * Runs a step that reads or deletes an object. If it stays unknown whether the object exists, the error explains how to
 * remove the object from the state. The error is copied, because resources may share a failed call.
 */
export async function explainingAbsence<T>(id: string, urn: Urn, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Errors of other calls, such as lists or `/healthz`, do not contain the object's id.
    const isAboutObject = error instanceof ApiError && error.message.includes(id);
    if (!isAboutObject || !mayMeanAbsent(error)) throw error;
    const fix = `If it no longer exists, remove it from the state: \`pulumi state delete ${shellQuote(urn ?? "URN")}\`.`;
    throw new Error(`${error.message.replace(/\.?$/, ".")} ${fix}`, { cause: error });
  }
}

/** Sources of an object's current values. */
interface Observed<State extends object, Found extends object> {
  /** State of the resource. */
  readonly state: State;
  /** The object from the list, or read separately if the list lacks it. Undefined if it does not exist. */
  readonly listed: Found | undefined;
  /** Returns the properties that the service reports. */
  reported(found: Found): Partial<State>;
  /** Reads the object itself. */
  readAlone(): Promise<Found | undefined>;
  /** Call that `readAlone` sends. If the credentials lack its scope, the list decides. */
  readonly route: Route;
}

/**
 * Returns the state with the current values of an object. A list may be out of date, so if it differs from the state,
 * the object is read separately, and that result counts.
 */
export async function confirmedState<State extends object, Found extends object>(
  { client }: Pick<Context, "client">,
  { state, listed, reported, readAlone, route }: Observed<State, Found>,
): Promise<State | undefined> {
  if (!listed) return undefined;
  const known = state as Record<string, unknown>;
  const isSame = Object.entries(reported(listed)).every(([key, value]) =>
    isDeepStrictEqual(value ?? null, known[key] ?? null),
  );
  const found = isSame || !(await isGranted(client, route)) ? listed : await readAlone();
  return found && { ...state, ...reported(found) };
}
