import { logicalName, nounOf, partsOf } from "../../provider/run/urn";
import type { StateResource } from "../stack/open";
import { type Contents, type Quality, quality, type Served } from "./history";

type Role = "generator" | "ranker";

/** The resources of one kind that a stack has, in the order of their names. */
export function resourcesOf(resources: readonly StateResource[], type: string): StateResource[] {
  return resources
    .filter((resource) => nounOf(resource.type) === type && !resource.delete)
    .sort((one, other) => logicalName(one.urn).localeCompare(logicalName(other.urn), "en"));
}

/** What a stack holds, as a release describes it; values that are secret are masked. */
export function readContents(resources: readonly StateResource[]): Contents {
  const of = (type: string) => resourcesOf(resources, type);
  return {
    records: ["EventRecords", "ItemRecords", "UserRecords"].flatMap((type) =>
      of(type).map((resource) => ({
        name: logicalName(resource.urn),
        type,
        contentHash: text(resource, "contentHash"),
        ...propertyIf("recordCount", number(resource, "recordCount")),
      })),
    ),
    algorithms: of("Algorithm").map((resource) => ({
      name: logicalName(resource.urn),
      type: text(resource, "algorithmType"),
      declaredParameters: map(resource, "algorithmParameters") ?? {},
    })),
    models: of("Model").map((resource) => ({
      name: logicalName(resource.urn),
      modelId: resource.id ?? "",
      projectId: text(resource, "projectId"),
      ...propertyIf("trainedParameters", map(resource, "algorithmParameters")),
      ...propertyIf("quality", qualityOf(resource)),
    })),
    deployments: of("Deployment").map((resource) => ({
      ...servedBy(resource, resources, of("Model")),
      projectId: text(resource, "projectId"),
      qps: number(resource, "qps") ?? 1,
    })),
  };
}

/** What each deployment of a stack serves. */
export function servedModels(resources: readonly StateResource[]): Served[] {
  return resourcesOf(resources, "Deployment").map((resource) => servedBy(resource, resources));
}

/** Whether two lists of deployments serve the same models. */
export function servesSameModels(one: readonly Served[], other: readonly Served[]): boolean {
  const ids = (served: readonly Served[]) =>
    JSON.stringify(
      served.map(({ name, generator, ranker }) => [name, generator.modelId, ranker?.modelId ?? null]).sort(),
    );
  return ids(one) === ids(other);
}

/** The quality of models that are listed already is left out. */
function servedBy(
  deployment: StateResource,
  resources: readonly StateResource[],
  listed: readonly StateResource[] = [],
): Served {
  const role = (part: Role) => {
    const key = `${part}ModelId`;
    if (deployment.outputs?.[key] === undefined) return undefined;
    const modelId = text(deployment, key);
    const urn = deployment.propertyDependencies?.[key]?.find((one) => nounOf(partsOf(one).type) === "Model");
    const resource = resources.find(({ type, id }) => nounOf(type) === "Model" && id === modelId);
    return {
      modelId,
      ...propertyIf("model", urn && logicalName(urn)),
      ...propertyIf("quality", resource && !listed.includes(resource) ? qualityOf(resource) : undefined),
    };
  };
  const generator = role("generator") ?? { modelId: "" };
  return { name: logicalName(deployment.urn), generator, ...propertyIf("ranker", role("ranker")) };
}

/** What a release records of a measured quality: the fields that its schema names and accepts. */
function qualityOf(resource: StateResource): Quality | undefined {
  const given: Readonly<Record<string, unknown>> = map(resource, "quality") ?? {};
  const entries = Object.entries(quality.shape).flatMap(([key, field]) => {
    const { success, data } = field.safeParse(given[key]);
    return success && data !== undefined ? [[key, data]] : [];
  });
  return entries.length > 0 ? (Object.fromEntries(entries) as Quality) : undefined;
}

const secretKey = "4dabf18193072939515e22adb298388d";

/** With keys in order at every depth, and what is secret masked. */
function maskedAndSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskedAndSorted);
  if (typeof value !== "object" || value === null) return value;
  if (secretKey in value) return "[secret]";
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
  return typeof value === "object" && value !== null ? (value as Record<string, never>) : undefined;
}

function propertyIf<K extends string, V>(key: K, value: V | undefined | ""): { [P in K]?: V } {
  return (value === undefined || value === "" ? {} : { [key]: value }) as { [P in K]?: V };
}
