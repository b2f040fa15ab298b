import { isDeepStrictEqual } from "node:util";
import { ReplyError } from "./errors";
import { isUndecided } from "./finality";
import type { CallOptions } from "./http/options";

/** Change of an object. */
export interface Change<Found, Sent extends object> {
  /** Name of the object in messages, such as `model m1`. */
  readonly object: string;
  readonly sent: Sent;
  /** Sends the change and returns the reply, which is the changed object. */
  send(options: Pick<CallOptions, "isObsolete">): Promise<Found>;
  /** Reads the object. */
  read(): Promise<Found>;
  /** Returns the changed properties that the service reports. The service need not report all of them. */
  reported(found: Found): Partial<Sent>;
  /** Returns the step to suggest if the service did not apply the change. */
  fix(which: string): string;
}

/**
 * Changes an object and returns it. If the reply does not contain the sent values, the object is read to find out
 * whether the change was applied. Fails if the object still has other values.
 */
export async function applyChange<Found, Sent extends object>(change: Change<Found, Sent>): Promise<Found> {
  const { object, sent, send, read, reported, fix } = change;
  const differing = (found: Found) => {
    const values: Readonly<Record<string, unknown>> = { ...reported(found) };
    return Object.entries(sent).flatMap(([key, value]) =>
      values[key] === undefined || isDeepStrictEqual(values[key], value) ? [] : key,
    );
  };
  let seen: Found | undefined;
  const isObsolete = async () => {
    seen = await read().catch(() => undefined);
    return seen !== undefined && differing(seen).length === 0;
  };
  const reply = await send({ isObsolete }).catch((error: unknown) => {
    const isApplied = seen !== undefined && differing(seen).length === 0;
    // A reply with other values than those sent proves nothing.
    // The object that was read shows whether the change was applied.
    const isOfOtherCall = error instanceof ReplyError && error.isOfOtherCall;
    if (seen === undefined || !isUndecided(error) || !(isApplied || isOfOtherCall)) throw error;
    return seen;
  });
  if (differing(reply).length === 0) return reply;
  const found = reply === seen ? reply : await read();
  const keys = differing(found);
  if (keys.length === 0) return found;
  const which = keys.join(" and ");
  const values = keys.length > 1 ? "still have different values" : "still has a different value";
  throw new Error(
    `the service accepted the change to ${object}, but did not apply it: ${which} ${values}. ${fix(which)}`,
  );
}
