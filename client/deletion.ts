import { withoutFullStop } from "../contract/messages";
import { ApiError } from "./client";
import { meansAbsent, undefinedIfMissing } from "./error-meaning";
import { isUndecided } from "./finality";
import type { CallOptions } from "./http/options";

/** How to delete an object, and how to check that it is gone. */
interface Deletion {
  /** Sends the delete call. A valid reply describes the deleted object. */
  send(options: Pick<CallOptions, "isObsolete">): Promise<unknown>;
  /** Reads the object. Returns true only if the service says that it does not exist. */
  isGone(): Promise<boolean>;
  /**
   * Whether an error of the delete call means that nothing is left to delete. Default: the object does not exist. If
   * the error names no object of the call, a gateway may have sent it, so a read must confirm it.
   */
  meansGone?(error: ApiError): boolean;
}

/**
 * Deletes an object. Succeeds if the service describes the deleted object or says that it does not exist. After any
 * other reply the outcome is unknown: the object is read, and the call is retried while the object still exists.
 */
export async function deleteObject({ send, isGone, meansGone = meansAbsent }: Deletion): Promise<void> {
  let seen: boolean | undefined;
  const isObsolete = async () => {
    seen = await isGone().catch(() => undefined);
    return seen === true;
  };
  try {
    await send({ isObsolete });
  } catch (error) {
    if (seen) return;
    if (error instanceof ApiError && meansGone(error)) {
      if (error.namesObject || (await isObsolete())) return;
    } else if (!isUndecided(error)) throw error;
    if (seen !== false) throw error;
    const reply = withoutFullStop(error.message);
    throw new Error(`${reply}; but a read shows that the object still exists`, { cause: error });
  }
}

/**
 * Deletes an object for a command. Unlike `deleteObject`, this fails if the service says that the object does not
 * exist.
 *
 * @param read reads the object
 */
export function deleteExisting(send: Deletion["send"], read: () => Promise<unknown>): Promise<void> {
  const isGone = async () => (await undefinedIfMissing(read())) === undefined;
  return deleteObject({ send, isGone, meansGone: () => false });
}
