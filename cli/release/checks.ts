import { systemClock } from "../../client/clock";
import type { ServingCheck } from "../../client/serving";
import { logicalName } from "../../provider/run/urn";
import type { OpenStack, StateResource } from "../stack/open";
import { providerSettings } from "../stack/providers";
import { resourcesOf } from "./contents";
import type { Contents } from "./history";

type DeploymentCheck = NonNullable<Contents["deployments"][number]["check"]>;

/** Runs the check of each deployment that declares a check, with the service that the deployment belongs to. */
export async function runChecks(
  open: OpenStack,
  resources: readonly StateResource[],
): Promise<ReadonlyMap<string, DeploymentCheck>> {
  const declared = resourcesOf(resources, "Deployment").filter(({ outputs }) => outputs?.check);
  const results = new Map<string, DeploymentCheck>();
  if (declared.length === 0) return results;
  const { currentServingUri, runCheck } = await import("../../client/serving.js");
  for (const resource of declared) {
    const { check, qps, ...deployment } = resource.outputs as {
      check: ServingCheck;
      qps: number;
      projectId: string;
      deploymentJobId?: string;
      servingUri?: string;
    };
    const { userIds, minResults = 1, maxLatencyMs, filterQuery } = check;
    const failure = await open.withClient(
      async (client) => {
        const servingUri = await currentServingUri(client, deployment);
        return (await runCheck({ check, qps }, servingUri, { client, clock: systemClock }))?.reason;
      },
      providerSettings(resource, resources, open),
    );
    results.set(logicalName(resource.urn), {
      users: userIds.length,
      minResults,
      ...(maxLatencyMs !== undefined && { maxLatencyMs }),
      ...(filterQuery !== undefined && { filterQuery }),
      result: failure ?? "passed",
    });
  }
  return results;
}

/** Adds the results of checks to the contents of a stack. */
export function withChecks(contents: Contents, checks: ReadonlyMap<string, DeploymentCheck>): Contents {
  const deployments = contents.deployments.map((deployment) => {
    const check = checks.get(deployment.name);
    return check ? { ...deployment, check } : deployment;
  });
  return { ...contents, deployments };
}
