import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { deleteObject } from "../client/deletion";
import { isMissingNextTo, undefinedIfMissing } from "../client/error-meaning";
import { datasetFields, type Reply, routes } from "../contract";
import { id } from "../contract/field";
import { truncate } from "../contract/messages";
import { knownFields } from "./lifecycle/arguments";
import { applyDeclared } from "./lifecycle/change";
import { lifecycle } from "./lifecycle/lifecycle";
import { confirmedState } from "./lifecycle/observation";
import { createOnce } from "./recovery/create-once";
import type { Context } from "./run/context";
import { log } from "./run/engine";

const datasetArgs = datasetFields.extend({ existingId: id.optional() });

type DatasetState = z.output<typeof datasetArgs>;

const datasetOutputs = z.object({
  eventDatasetId: id,
  // Schema that the service inferred if none is declared. It is JSON text because the state cannot store null.
  __inferred: z.string().optional(),
});

type Outputs = z.output<typeof datasetOutputs>;

/** Dataset of events. */
export const eventDataset = lifecycle({
  type: "EventDataset",
  args: datasetArgs,
  outputs: datasetOutputs,
  replaceOn: ["numShards"],

  replacementWarning: ({ title, reason, prevention }) =>
    `Replacing ${title} deletes its events, unless retainOnDelete is set: ${reason}. ` +
    `The new dataset is empty until its records are uploaded again. ${prevention}`,

  async complete(given, { urn, run }) {
    run.trainingData.declareDataset(urn, given.existingId !== undefined);
    return given;
  },

  calls: () => ({
    create: [routes.createEventDataset],
    adopt: [routes.listEventDatasets],
    update: [routes.updateEventDataset],
    delete: [routes.deleteEventDataset],
  }),

  async create({ name, numShards, attributeSchema = null }, context) {
    const { client, run } = context;
    const request = { name, numShards, attributeSchema };
    const { reply } = await createOnce(context, {
      route: routes.createEventDataset,
      request,
      idOf: ({ eventDatasetId }) => eventDatasetId,
      findLost: {
        name: "event datasets",
        list: async () => (await client.call(routes.listEventDatasets, {})).eventDatasets,
        match: (found) =>
          isDeepStrictEqual({ ...request, ...reported(found, request) }, request) ? found : undefined,
      },
      isThere: async (created) => (await find(created.eventDatasetId, context)) !== undefined,
    });
    run.eventDatasets.forget();
    return { id: reply.eventDatasetId, ...outputs(reply.eventDatasetId, request, reply) };
  },

  async assertAdoptable(id, args, context) {
    await adoptableDataset(id, args, context);
  },

  async adopt(id, args, context) {
    const found = await adoptableDataset(id, args, context);
    const changes = Object.entries(reported(found, args)).filter(
      ([key, value]) => !isDeepStrictEqual(value, args[key as keyof DatasetState] ?? null),
    );
    if (changes.length === 0) return outputs(id, args, found);
    await log.warn(
      context.urn,
      `adopting ${id} changes its ${changes.map(([key]) => key).join(" and its ")}`,
    );
    return change(id, args, context);
  },

  async read(id, state, context) {
    return confirmedState<DatasetState & Outputs, Found>(context, {
      state: { ...state, eventDatasetId: id },
      listed: await find(id, context),
      reported: (found) => reported(found, state),
      readAlone: () => readAlone(id, context),
      route: routes.getEventDataset,
    });
  },

  async update(id, _olds, news, context) {
    return change(id, news, context);
  },

  async delete(eventDatasetId, _state, context) {
    const { client, run } = context;
    await deleteObject({
      send: (options) => client.call(routes.deleteEventDataset, { eventDatasetId }, options),
      isGone: async () => {
        run.eventDatasets.forget();
        return (await readAlone(eventDatasetId, context)) === undefined;
      },
    });
    run.eventDatasets.forget();
  },
});

type Found = Reply<typeof routes.getEventDataset>;
type Schema = DatasetState["attributeSchema"] & object;

/**
 * Returns the reported properties. The state keeps the declared values of properties that the service does not report.
 */
function reported(found: Found, declared: DatasetState & Partial<Outputs>): Partial<DatasetState> {
  const { name, numShards, attributeSchema } = found;
  const schema = attributeSchema !== undefined && reportedSchema(attributeSchema as Schema | null, declared);
  return { ...knownFields({ name, numShards }), ...schema };
}

/** Returns the reported schema for the state. A schema that the service inferred itself does not count as a change. */
function reportedSchema(
  found: Schema | null,
  { attributeSchema, __inferred }: DatasetState & Partial<Outputs>,
): Partial<DatasetState> {
  if (__inferred !== undefined)
    return { attributeSchema: isDeepStrictEqual(found, JSON.parse(__inferred)) ? null : found };
  return attributeSchema == null ? {} : { attributeSchema: found };
}

function outputs(eventDatasetId: string, { attributeSchema }: DatasetState, reply: Found): Outputs {
  const inferred = attributeSchema == null ? reply.attributeSchema : undefined;
  return { eventDatasetId, ...(inferred !== undefined && { __inferred: JSON.stringify(inferred) }) };
}

async function change(eventDatasetId: string, args: DatasetState, context: Context): Promise<Outputs> {
  const { client, run } = context;
  const { name, attributeSchema = null } = args;
  const sent = { name, attributeSchema };
  const found = await applyDeclared({
    object: `event dataset ${truncate(eventDatasetId)}`,
    sent,
    send: (options) => client.call(routes.updateEventDataset, { eventDatasetId, ...sent }, options),
    read: () => client.call(routes.getEventDataset, { eventDatasetId }),
    reported: (reply) => reported(reply, args),
  });
  run.eventDatasets.forget();
  return outputs(eventDatasetId, args, found);
}

/** Reads a dataset to adopt. Fails if it does not exist or has a different number of shards. */
async function adoptableDataset(id: string, { numShards }: DatasetState, context: Context) {
  const found = await find(id, context);
  if (!found) throw new Error(`existingId ${truncate(id)}: there is no such event dataset in this account`);
  if (found.numShards == null || found.numShards === numShards) return found;
  throw new Error(
    `existingId ${truncate(id)}: its numShards is ${found.numShards} and cannot be changed, ` +
      `but ${numShards} is declared; declare numShards: ${found.numShards}`,
  );
}

/**
 * Finds a dataset in the list, which all resources share. A dataset that is not in the list is read separately, in case
 * the list is incomplete.
 */
async function find(eventDatasetId: string, context: Context): Promise<Found | undefined> {
  return (await listed(context)).get(eventDatasetId) ?? readAlone(eventDatasetId, context);
}

function listed({ client, clock, run }: Context): Promise<Map<string, Found>> {
  return run.eventDatasets.get("", clock, async () => {
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    return new Map(eventDatasets.map((dataset) => [dataset.eventDatasetId, dataset]));
  });
}

/** Reads a dataset without the list, which may be out of date. Returns undefined if the dataset does not exist. */
function readAlone(eventDatasetId: string, context: Context): Promise<Found | undefined> {
  const read = (id: string) => context.client.call(routes.getEventDataset, { eventDatasetId: id });
  return undefinedIfMissing(read(eventDatasetId), async () =>
    isMissingNextTo(await listed(context), eventDatasetId, read),
  );
}
