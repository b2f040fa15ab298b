import { quality } from "../../contract";
import { isObject } from "../../contract/field";
import { isSealed } from "../../provider/run/sealed-value";
import { logicalName, partsOf, resourceTypeOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import { defined } from "../terminal/output";
import type { Contents, Quality, Served } from "./history";

type Role = "generator" | "ranker";

/** Returns the resources of one type, sorted by name. */
export function resourcesOf(resources: readonly StateResource[], type: string): StateResource[] {
  return resources
    .filter((resource) => resourceTypeOf(resource.type) === type && !resource.delete)
    .sort((one, other) => logicalName(one.urn).localeCompare(logicalName(other.urn), "en"));
}

/** Describes the contents of a stack for a release. Secrets are masked. */
export function readContents(resources: readonly StateResource[]): Contents {
  const ofType = (type: string) => resourcesOf(resources, type);
  return {
    records: ["EventRecords", "ItemRecords", "UserRecords"].flatMap((type) =>
      ofType(type).map((resource) => ({
        name: logicalName(resource.urn),
        type,
        contentHash: text(resource, "contentHash"),
        ...defined({ recordCount: number(resource, "recordCount") }),
      })),
    ),
    algorithms: ofType("Algorithm").map((resource) => ({
      name: logicalName(resource.urn),
      type: text(resource, "algorithmType"),
      declaredParameters: map(resource, "algorithmParameters") ?? {},
    })),
    models: ofType("Model").map((resource) => ({
      name: logicalName(resource.urn),
      modelId: resource.id ?? "",
      projectId: text(resource, "projectId"),
      ...defined({ trainedParameters: map(resource, "algorithmParameters"), quality: qualityOf(resource) }),
    })),
    deployments: ofType("Deployment").map((resource) => ({
      ...servedBy(resource, resources, ofType("Model")),
      projectId: text(resource, "projectId"),
      qps: number(resource, "qps") ?? 1,
    })),
  };
}

/** Returns the models and rules that each deployment of a stack uses. */
export function servedModels(resources: readonly StateResource[]): Served[] {
  return resourcesOf(resources, "Deployment").map((resource) => servedBy(resource, resources));
}

/** Whether two lists contain the same deployments with the same models and rules. */
export function servesSameModels(one: readonly Served[], other: readonly Served[]): boolean {
  const ids = (served: readonly Served[]) =>
    JSON.stringify(
      served
        .map(({ name, generator, ranker, rules = null }) =>
          JSON.stringify([name, generator.modelId, ranker?.modelId ?? null, maskedAndSorted(rules)]),
        )
        .sort(),
    );
  return ids(one) === ids(other);
}

/**
 * Returns the models that a deployment uses. The quality of models in `listed` is left out, because the release already
 * lists it.
 */
function servedBy(
  deployment: StateResource,
  resources: readonly StateResource[],
  listed: readonly StateResource[] = [],
): Served {
  const role = (part: Role) => {
    const key = `${part}ModelId`;
    if (deployment.outputs?.[key] === undefined) return undefined;
    const modelId = text(deployment, key);
    const urn = deployment.propertyDependencies?.[key]?.find(
      (one) => resourceTypeOf(partsOf(one).type) === "Model",
    );
    const resource = resources.find(({ type, id }) => resourceTypeOf(type) === "Model" && id === modelId);
    const quality = resource && !listed.includes(resource) ? qualityOf(resource) : undefined;
    return { modelId, ...defined({ model: urn && logicalName(urn), quality }) };
  };
  const generator = role("generator") ?? { modelId: "" };
  const rules = maskedAndSorted(deployment.outputs?.rules ?? undefined) as Served["rules"];
  return { name: logicalName(deployment.urn), generator, ...defined({ ranker: role("ranker"), rules }) };
}

/** Returns the known quality metrics of a model. Unknown fields and invalid values are left out. */
function qualityOf(resource: StateResource): Quality | undefined {
  const metrics = quality.parse(map(resource, "quality") ?? {});
  const entries = Object.entries(metrics).filter(([, value]) => value != null);
  return entries.length > 0 ? (Object.fromEntries(entries) as Quality) : undefined;
}

/** Stands for a secret in a release. */
export const masked = "[secret]";

/** Masks secrets, and sorts keys at every depth, to keep the diffs of the history small. */
function maskedAndSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskedAndSorted);
  if (!isObject(value)) return value;
  if (isSealed(value)) return masked;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, maskedAndSorted(entry)]));
}

function text({ outputs }: StateResource, key: string): string {
  return String(maskedAndSorted(outputs?.[key]) ?? "");
}

function number({ outputs }: StateResource, key: string): number | undefined {
  const value = outputs?.[key];
  return typeof value === "number" ? value : undefined;
}

function map({ outputs }: StateResource, key: string): Record<string, never> | undefined {
  const value = maskedAndSorted(outputs?.[key]);
  return isObject(value) ? (value as Record<string, never>) : undefined;
}
