import { ApiError } from "./client";
import { isFinal, isForeign } from "./finality";

const absent = /\bnot[ _]found\b|\bno[ _]such\b|\bdoes[ _]not[ _]exist\b/i;
const idle = /\b(not|no|nothing|never)\b.{0,40}\b(deployed|deployment|serving|serves|live)\b|NOT_DEPLOYED/i;
const user = /(\b|_)users?(\b|_)/i;
const inUse = /\b(deployed|serving|serves|in[ _]use)\b|DEPLOYED|IN_USE/i;

/** Further evidence that an object is gone, for a service whose 404 does not name what is missing. */
export type ConfirmAbsence = () => Promise<boolean>;

/**
 * The reply of a call, or undefined if the service answers that the object does not exist. A 404 that the service may not
 * have sent counts only if it is corroborated; otherwise it is thrown.
 */
export function undefinedIfMissing<T>(
  call: Promise<T>,
  corroborate?: ConfirmAbsence | undefined,
): Promise<T | undefined> {
  return undefinedIf(meansAbsent, call, corroborate);
}

/** The reply of a call, or undefined if the service answers that the project or its deployment does not exist. */
export function undefinedIfNotServing<T>(
  call: Promise<T>,
  corroborate: ConfirmAbsence,
): Promise<T | undefined> {
  return undefinedIf((error) => meansAbsent(error) || meansNotServing(error), call, corroborate);
}

async function undefinedIf<T>(
  isMeant: (error: ApiError) => boolean,
  call: Promise<T>,
  corroborate: ConfirmAbsence = async () => false,
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && isMeant(error)) return undefined;
    if (isForeign(error) && error.status === 404 && (await corroborate().catch(() => false)))
      return undefined;
    throw error;
  }
}

/**
 * Whether a list that lacks an object shows that it is gone, after reading it got a 404 of unknown origin. An empty list
 * shows it. Otherwise the same read must find another object of the list: then the route works, and the 404 is meant.
 */
export async function listConfirmsAbsence<T>(
  list: ReadonlyMap<string, T>,
  read: (id: string) => Promise<unknown>,
): Promise<boolean> {
  const [other] = list.keys();
  if (other === undefined) return true;
  return read(other).then(
    () => true,
    () => false,
  );
}

/** Whether a refusal of the recommendation call means that nothing is deployed, and not that a user is unknown. */
export function meansNotServing({ status, code = "", reason, isRecognised }: ApiError): boolean {
  if (!isRecognised) return false;
  if (![400, 404, 409, 410, 412, 422, 503].includes(status)) return false;
  return idle.test(code) || (idle.test(reason) && !user.test(code) && !user.test(reason));
}

/** Whether a refusal to delete a model means that it serves. */
export function meansInUse(error: ApiError): boolean {
  const { code = "", reason } = error;
  return isFinal(error) && !meansAbsent(error) && (inUse.test(code) || inUse.test(reason));
}

/** Whether the service answers that an object does not exist. The specification shows no status for it. */
function meansAbsent(error: ApiError): boolean {
  const { status, code = "", reason } = error;
  if (!isFinal(error)) return false;
  if (status === 404 || status === 410) return true;
  return (status === 400 || status === 409) && (absent.test(code) || absent.test(reason));
}
