import { isDeepStrictEqual } from "node:util";

/** Change of an object. */
interface Change<Found, Sent extends object> {
  /** Object in messages, such as `model m1`. */
  readonly object: string;
  readonly sent: Sent;
  /** Sends the change and returns the reply, which is the changed object. */
  send(): Promise<Found>;
  /** Reads the object. */
  read(): Promise<Found>;
  /** Returns the properties that the service reports. The service need not report all of them. */
  reported(found: Found): Partial<Sent>;
}

/**
 * Changes an object and returns it as the service has it. A reply with other values than those sent does not show that the
 * change was applied, so the object is read. Fails if it still has other values: the state must not contain them.
 */
export async function applyChange<Found, Sent extends object>(change: Change<Found, Sent>): Promise<Found> {
  const { object, sent, send, read, reported } = change;
  const differing = (found: Found) => {
    const values: Readonly<Record<string, unknown>> = { ...reported(found) };
    return Object.entries(sent).flatMap(([key, value]) =>
      values[key] === undefined || isDeepStrictEqual(values[key], value) ? [] : key,
    );
  };
  const reply = await send();
  if (differing(reply).length === 0) return reply;
  const found = await read();
  const keys = differing(found);
  if (keys.length === 0) return found;
  const which = keys.join(" and ");
  throw new Error(
    `the service accepted the change of ${object}, but did not apply it: ${which} ${keys.length > 1 ? "have" : "has"} ` +
      `another value. Run \`pulumi up\` again. If the error stays, declare the ${which} that \`pulumi refresh\` shows.`,
  );
}
