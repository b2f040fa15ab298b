import type { PolicySettings } from "../policy/file";
import { cwdFlag, shellQuote } from "../stack/flags";
import type { OpenStack } from "../stack/open";
import { readModelAges } from "./model-age";
import { hasLimits, modelTitle, type StalenessLimits, staleReasons } from "./staleness";

/** Returns the limits of a policy that make a model stale. */
export function policyLimits({ ifOlder, ifNewEvents }: PolicySettings["retrain"]): StalenessLimits {
  return {
    ...(ifOlder && { maxAgeMs: ifOlder.ms }),
    ...(ifNewEvents !== undefined && { maxNewShare: ifNewEvents }),
  };
}

/** Returns a warning for each live model of a stack that exceeds a limit of the policy. */
export async function staleModelWarnings(
  open: OpenStack,
  policy: PolicySettings["retrain"],
  now: number,
): Promise<string[]> {
  const limits = policyLimits(policy);
  if (!hasLimits(limits)) return [];
  const ages = await readModelAges(open, (await open.state()).resources);
  return ages.flatMap((age) => {
    const reasons = staleReasons(age, limits, now);
    const command = `recommender retrain ${shellQuote(open.name)}${cwdFlag(open.location.cwd)}`;
    const title = modelTitle(age).replace(/^m/, "M");
    return reasons.length > 0
      ? [`${title} is stale: ${reasons.join("; ")}. Train it again with \`${command}\`.`]
      : [];
  });
}
