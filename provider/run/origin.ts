import type { Route } from "../../contract";
import { formatOrigin, originHeader } from "../../contract/origin";
import type { Context } from "./context";
import { partsOf } from "./urn";

/**
 * Environment variable with the release that a run deploys. `recommender promote` and `recommender rollback` set it.
 */
export const releaseVariable = "RECOMMENDER_RELEASE";

/**
 * Returns the header that names the stack and the resource of a call. Undefined if `tellOrigin` is off or the call has
 * no such header.
 */
export function originHeaders(
  { urn, settings }: Pick<Context, "urn" | "settings">,
  route: Route,
): Record<string, string> | undefined {
  const isSent = settings.tellOrigin && route.headers !== undefined && originHeader in route.headers.shape;
  if (!isSent || !urn) return undefined;
  const { project, stack, name } = partsOf(urn);
  const release = process.env[releaseVariable];
  return { [originHeader]: formatOrigin({ project, stack, resource: name, release }) };
}
