import { ApiError } from "./client";

const absent = /\bnot[ _]found\b|\bno[ _]such\b|\bdoes[ _]not[ _]exist\b/i;
const idle = /\b(not|no|nothing|never)\b.{0,40}\b(deployed|deployment|serving|serves|live)\b|NOT_DEPLOYED/i;
const user = /(\b|_)users?(\b|_)/i;
const inUse = /\b(deployed|serving|serves|in[ _]use)\b|DEPLOYED|IN_USE/i;

/** Undefined where the service answers that there is no such thing. */
export async function undefinedIfMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && meansAbsent(error)) return undefined;
    throw error;
  }
}

/** The same for what is deployed in a project. */
export async function notServing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && (meansAbsent(error) || meansNotServing(error))) return undefined;
    throw error;
  }
}

/** Whether a refusal of the recommendation call means that nothing is deployed, and not that a user is unknown. */
export function meansNotServing({ status, code = "", reason }: ApiError): boolean {
  if (![400, 404, 409, 410, 412, 422, 503].includes(status)) return false;
  return idle.test(code) || (idle.test(reason) && !user.test(code) && !user.test(reason));
}

/** Whether a refusal to delete a model means that it serves. */
export function meansInUse(error: ApiError): boolean {
  const { status, code = "", reason } = error;
  return status < 500 && !meansAbsent(error) && (inUse.test(code) || inUse.test(reason));
}

/**
 * The specification shows no status for what is not there. A page of HTML under 404 comes from something that stands
 * before the service, and other refusals mean it only where they say it.
 */
function meansAbsent({ status, code = "", reason }: ApiError): boolean {
  if (status === 404 || status === 410) return !reason.includes("an HTML page");
  return (status === 400 || status === 409) && (absent.test(code) || absent.test(reason));
}
