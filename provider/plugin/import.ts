import { randomUUID } from "node:crypto";
import type { Client } from "../../client/client";
import { undefinedIfMissing } from "../../client/error-meaning";
import { hasSucceeded } from "../../client/job";
import { routes } from "../../contract";
import { truncate } from "../../contract/messages";
import { withDefaults } from "../lifecycle/arguments";
import type { Lifecycle } from "../lifecycle/protocol";
import type { Properties } from "../run/state-entry";
import { pluginTypePrefix } from "../run/urn";

/** Object that `pulumi import` found: its id and its properties for the state. */
export interface Imported {
  readonly id: string;
  readonly state: Properties;
}

interface Importer {
  /** Format of the id for `pulumi import`. */
  readonly form: string;
  find(client: Client, ...ids: readonly string[]): Promise<Imported | undefined>;
}

/** Returns the id and the properties with which a job, or its result, is imported. */
type Place = (projectId: string, jobId: string) => Imported;

const submitted: Place = (_, jobId) => ({ id: jobId, state: { jobId } });
const finished: Place = (_, jobId) => ({ id: jobId, state: { jobId, existingId: jobId } });
const deployed: Place = (projectId, jobId) => ({
  id: projectId,
  state: { deploymentJobId: jobId, existingId: projectId },
});

const recommendationFields = [
  ...["format", "modelId", "userIds", "query", "limit", "attributes"],
  ...["filterQuery", "excludeItemIds", "includeItemIds"],
];

/**
 * Importers of the resource types that the API can read. They return enough properties to leave the next preview
 * without changes.
 */
const importers: Readonly<Record<string, Importer>> = {
  EventDataset: {
    form: "EVENT_DATASET_ID",
    async find(client, id = "") {
      const found = await undefinedIfMissing(client.call(routes.getEventDataset, { eventDatasetId: id }));
      if (!found) return undefined;
      const { name, numShards, attributeSchema = null } = found;
      // An existing schema counts as declared. If there is none, a schema that is set later is reported as drift.
      const schema = attributeSchema === null ? { __inferred: "null" } : { attributeSchema };
      return { id, state: { name, numShards, ...schema } };
    },
  },
  Model: {
    form: "PROJECT_ID/MODEL_ID",
    async find(client, projectId = "", modelId = "") {
      const found = await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }));
      if (!found) return undefined;
      const { name, algorithmType, algorithmParameters } = found;
      const state = { projectId, name, modelId, algorithmType, algorithmParameters, existingId: modelId };
      return { id: modelId, state };
    },
  },
  Deployment: ofJob(["generatorModelId", "rankerModelId", "qps", "rules"], deployed, true),
  DeploymentJob: ofJob(["generatorModelId", "rankerModelId", "qps", "rules"], submitted),
  UserQuery: ofJob(["queryType", "modelId", "queries"], finished, true),
  QueryingJob: ofJob(["queryType", "modelId", "queries"], submitted),
  UserClustering: ofJob(["clusterType", "modelId", "parameters"], finished, true),
  ClusteringJob: ofJob(["clusterType", "modelId", "parameters"], submitted),
  UserRecommendations: ofJob(recommendationFields, finished, true),
  RecommendationJob: ofJob(recommendationFields, submitted),
};

/** Reads the object to import. Undefined if it does not exist. */
export async function importedState(
  definition: Lifecycle,
  given: string,
  clientHere: () => Promise<Client>,
): Promise<Imported | undefined> {
  const { type, args } = definition;
  const importer = importers[type];
  if (!importer) throw unreadable(definition, given, "imported");
  const ids = given.split("/");
  if (ids.length !== importer.form.split("/").length || ids.includes(""))
    throw new Error(`Cannot import ${type} ${truncate(given)}: its id must have the form ${importer.form}`);
  const found = await importer.find(await clientHere(), ...ids);
  if (!found) return undefined;
  const state = withDefaults(args, withoutNulls(found.state));
  return { id: found.id, state: { ...state, __made: randomUUID().slice(0, 8) } };
}

/** Throws if a program looks up a resource that the API cannot read, for example with `get`. */
export function assertReadable(definition: Lifecycle, id: string): void {
  if (!importers[definition.type]) throw unreadable(definition, id, "looked up");
}

function unreadable(definition: Lifecycle, id: string, done: string): Error {
  const shown = truncate(id);
  return new Error(
    `${definition.type} ${shown} cannot be ${done}: the API cannot read it. ${remedyOf(definition, shown)}`,
  );
}

/** Explains how to use an object that the API cannot read. */
function remedyOf({ type, argumentNames }: Lifecycle, shown: string): string {
  if (argumentNames.includes("existingId"))
    return `Declare it with its arguments and existingId: "${shown}"; \`pulumi up\` adopts it.`;
  if (type === "TrainingJob")
    return (
      'Declare its model as a Model with existingId: "MODEL_ID"; `pulumi up` adopts it. ' +
      `Or import the model as ${pluginTypePrefix}Model with the id ${importers.Model?.form}.`
    );
  return (
    "Declare the records with their source, and their dataset with existingId; `pulumi up` uploads them again and " +
    "replaces records with the same ids."
  );
}

/**
 * Returns the importer of a job, or of a job's result if the job has succeeded. Only the expected kind of job has the
 * first of the fields.
 */
function ofJob(fields: readonly string[], place: Place, isResult = false): Importer {
  return {
    form: "PROJECT_ID/JOB_ID",
    async find(client, projectId = "", jobId = "") {
      const job = await undefinedIfMissing(client.call(routes.getJob, { projectId, jobId }));
      if (!job) return undefined;
      const data = Object.entries(job.jobData ?? {}).filter(([key]) => fields.includes(key));
      if (!data.some(([key, value]) => key === fields[0] && value != null))
        throw new Error(
          `job ${truncate(jobId)} of project ${truncate(projectId)} is a different kind of job: ${job.jobType}`,
        );
      if (isResult && !hasSucceeded(job))
        throw new Error(`job ${job.jobId} has not succeeded: its status is ${job.jobStatus}`);
      const { id, state } = place(projectId, jobId);
      return { id, state: { projectId, name: job.name, ...Object.fromEntries(data), ...state } };
    },
  };
}

/** Removes properties that are null or undefined at any depth: the service has no value for them. */
function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner != null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNulls(inner)])) as T;
}
