import { applyChange, type Change } from "../../client/change";

/**
 * Applies the declared values to an object. Throws if the service then reports other values, so the state never stores
 * values that were not applied.
 */
export function applyDeclared<Found, Sent extends object>(
  change: Omit<Change<Found, Sent>, "fix">,
): Promise<Found> {
  const fix = (which: string) =>
    `Run \`pulumi up\` again. If the error stays, declare the ${which} that \`pulumi refresh\` shows.`;
  return applyChange({ ...change, fix });
}
