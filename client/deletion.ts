import { ApiError } from "./client";
import { meansAbsent, undefinedIfMissing } from "./error-meaning";
import { isUndecided } from "./finality";
import type { CallOptions } from "./http/options";

/** How to delete an object, and how to see that it is gone. */
interface Deletion {
  /** Sends the call. Its reply must describe the deleted object. */
  send(options: Pick<CallOptions, "isObsolete">): Promise<unknown>;
  /** Reads the object. Returns true only if the service says that it does not exist. */
  isGone(): Promise<boolean>;
  /**
   * Whether an error of the call means that nothing is left to delete. Default: the object does not exist. An error that
   * names no object of the call may be a gateway's, so a read must confirm it.
   */
  meansGone?(error: ApiError): boolean;
}

/**
 * Deletes an object. Succeeds if the service describes the deleted object or says that it does not exist. Any other reply
 * decides nothing: the object is read, and the call is repeated while the object still exists.
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
    const reply = error.message.replace(/\.$/, "");
    throw new Error(`${reply}; a read shows that it still exists`, { cause: error });
  }
}

/**
 * Deletes an object for a command, which reports an object that does not exist as an error.
 *
 * @param read reads the object
 */
export function deleteExisting(send: Deletion["send"], read: () => Promise<unknown>): Promise<void> {
  const isGone = async () => (await undefinedIfMissing(read())) === undefined;
  return deleteObject({ send, isGone, meansGone: () => false });
}
