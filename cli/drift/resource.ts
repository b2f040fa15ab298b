import type { Rules } from "../../provider/lifecycle/noun";
import { nouns } from "../../provider/nouns";
import { logicalName, nounOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import type { ResourceRef } from "./finding";

/** The job beside each resource that waits for one, under the same name. */
export const jobTypes: Readonly<Record<string, string>> = {
  Model: "TrainingJob",
  Deployment: "DeploymentJob",
  UserQuery: "QueryingJob",
  UserClustering: "ClusteringJob",
};

/** A resource as a report names it. */
export function refOf({ urn, type, id }: { urn: string; type: string; id?: string }): ResourceRef {
  return { urn, type: nounOf(type) ?? type, name: logicalName(urn), ...(id && { id }) };
}

/** Whether a resource counts in a report: not the engine's bookkeeping, nor a row that waits for its deletion. */
export function isReported({ type, custom, external, delete: isLeaving }: StateResource): boolean {
  return custom === true && external !== true && !isLeaving && !type.startsWith("pulumi:");
}

/** What is known of a noun without running it; undefined for resources of others. */
export function definitionOf(type: string): Rules | undefined {
  return nouns[nounOf(type) ?? ""];
}
