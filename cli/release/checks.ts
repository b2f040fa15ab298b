import { systemClock } from "../../client/clock";
import type { ServingCheck } from "../../client/serving";
import { logicalName } from "../../provider/run/urn";
import { isOfStack } from "../drift/resource";
import type { OpenStack, StateResource } from "../stack/open";
import { resourcesOf } from "./contents";
import type { Contents } from "./history";

type DeploymentCheck = NonNullable<Contents["deployments"][number]["check"]>;

/**
 * Tries what each deployment of a stack declares as its check, now; those without one are left out, and those of other
 * services than that of the stack, which must not see its credentials.
 */
export async function runChecks(
  open: OpenStack,
  resources: readonly StateResource[],
): Promise<ReadonlyMap<string, DeploymentCheck>> {
  const declared = resourcesOf(resources, "Deployment").filter(
    (resource) => resource.outputs?.check && isOfStack(resource),
  );
  const results = new Map<string, DeploymentCheck>();
  if (declared.length === 0) return results;
  const { tryOut } = await import("../../client/serving.js");
  await open.withClient(async (client) => {
    for (const resource of declared) {
      const { check, qps, servingUri } = resource.outputs as {
        check: ServingCheck;
        qps: number;
        servingUri?: string;
      };
      const { userIds, minResults = 1, maxLatencyMs } = check;
      const fault = await tryOut({ check, qps }, servingUri, { client, clock: systemClock });
      results.set(logicalName(resource.urn), {
        users: userIds.length,
        minResults,
        ...(maxLatencyMs !== undefined && { maxLatencyMs }),
        result: fault ?? "passed",
      });
    }
  });
  return results;
}

/** The same contents with the results of checks. */
export function withChecks(contents: Contents, checks: ReadonlyMap<string, DeploymentCheck>): Contents {
  const deployments = contents.deployments.map((deployment) => {
    const check = checks.get(deployment.name);
    return check ? { ...deployment, check } : deployment;
  });
  return { ...contents, deployments };
}
