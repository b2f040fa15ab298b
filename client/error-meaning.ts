import { ApiError } from "./client";
import { isFinal, mayMeanAbsent } from "./finality";

const absent = /\bnot[ _]found\b|\bno[ _]such\b|\bdoes[ _]not[ _]exist\b/i;
const idle = /\b(not|no|nothing|never)\b.{0,40}\b(deployed|deployment|serving|serves|live)\b|NOT_DEPLOYED/i;
const user = /(\b|_)users?(\b|_)/i;
const inUse = /\b(deployed|serving|serves|in[ _]use)\b|DEPLOYED|IN_USE/i;

/**
 * Returns the reply of a call, or undefined if the object does not exist. If a gateway may have sent the 404, `confirm`
 * must check in another way that the object is missing.
 */
export async function undefinedIfMissing<T>(
  call: Promise<T>,
  confirm: () => Promise<boolean> = async () => false,
  meansMissing: (error: ApiError) => boolean = meansAbsent,
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && meansMissing(error)) return undefined;
    if (mayMeanAbsent(error) && (await confirm().catch(() => false))) return undefined;
    throw error;
  }
}

/**
 * Whether a 404 that may come from a gateway means that an object is missing. A list without the object proves nothing:
 * it may be paged, out of date, or sent by the gateway. So the same read must find another object of the list, which
 * shows that the route works, and then still not find this one.
 */
export async function isMissingNextTo<T>(
  list: ReadonlyMap<string, T>,
  id: string,
  read: (id: string) => Promise<unknown>,
): Promise<boolean> {
  const other = [...list.keys()].find((key) => key !== id);
  if (other === undefined) return false;
  await read(other);
  return read(id).then(() => false, mayMeanAbsent);
}

/** Whether an error means that a project or its deployment does not exist. */
export function meansAbsentOrNotServing(error: ApiError): boolean {
  return meansAbsent(error) || meansNotServing(error);
}

/** Whether an error of the recommendation call means that nothing is deployed, and not that the user is unknown. */
export function meansNotServing(error: ApiError): boolean {
  const { code = "", reason } = error;
  return isFinal(error) && (idle.test(code) || (idle.test(reason) && !user.test(code) && !user.test(reason)));
}

/** Whether a model could not be deleted because it is deployed. */
export function meansInUse(error: ApiError): boolean {
  const { code = "", reason } = error;
  return isFinal(error) && !meansAbsent(error) && (inUse.test(code) || inUse.test(reason));
}

/** Whether an error means that an object does not exist. The specification does not define the status for it. */
export function meansAbsent(error: ApiError): boolean {
  const { status, code = "", reason } = error;
  if (!isFinal(error) || !error.namesObject) return false;
  if (status === 404 || status === 410) return true;
  return (status === 400 || status === 409) && (absent.test(code) || absent.test(reason));
}
