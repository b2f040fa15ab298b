import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { listConfirmsAbsence, undefinedIfMissing } from "../client/error-meaning";
import { datasetFields, type Reply, routes } from "../contract";
import { id } from "../contract/field";
import { truncate } from "../contract/messages";
import { lifecycle } from "./lifecycle/lifecycle";
import { createOnce } from "./recovery/create-once";
import type { Context } from "./run/context";
import { log } from "./run/engine";

/** The arguments of a dataset, checked. */
export const datasetArgs = datasetFields.extend({ existingId: id.optional() });

type DatasetState = z.output<typeof datasetArgs>;

const datasetOutputs = z.object({
  eventDatasetId: id,
  // Where no schema is declared: the one that the service answered to that, as JSON, for the state keeps no null.
  __inferred: z.string().optional(),
});

type Outputs = z.output<typeof datasetOutputs>;

/** A dataset of what users did with items. */
export const eventDataset = lifecycle({
  type: "EventDataset",
  args: datasetArgs,
  outputs: datasetOutputs,
  replaceOn: ["numShards"],

  replacementWarning: ({ title, reason }) =>
    `Replacing ${title} deletes its events, unless retainOnDelete is set: ${reason}. ` +
    "The new dataset is empty until its records are loaded again. To forbid the replacement, set protect.",

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
          isDeepStrictEqual({ ...request, ...seen(found, request) }, request) ? found : undefined,
      },
      isThere: async (made) => (await find(made.eventDatasetId, context)) !== undefined,
    });
    run.eventDatasets.forget();
    return { id: reply.eventDatasetId, ...outputs(reply.eventDatasetId, request, reply) };
  },

  async assertAdoptable(id, args, context) {
    await fitting(id, args, context);
  },

  async adopt(id, args, context) {
    const found = await fitting(id, args, context);
    const changes = Object.entries(seen(found, args)).filter(
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
    const found = await find(id, context);
    return found && { ...state, ...seen(found, state), eventDatasetId: id };
  },

  async update(id, _olds, news, context) {
    return change(id, news, context);
  },

  async delete(eventDatasetId, _state, context) {
    const { client, run } = context;
    const isGone = async () => {
      run.eventDatasets.forget();
      return (await find(eventDatasetId, context)) === undefined;
    };
    await undefinedIfMissing(client.call(routes.deleteEventDataset, { eventDatasetId }), isGone);
    run.eventDatasets.forget();
  },
});

type Found = Reply<typeof routes.getEventDataset>;
type Schema = DatasetState["attributeSchema"] & object;

/** What a service leaves out of its response is unknown and stays as declared. */
function seen(found: Found, declared: DatasetState & Partial<Outputs>): Partial<DatasetState> {
  return {
    ...(found.name != null && { name: found.name }),
    ...(found.numShards != null && { numShards: found.numShards }),
    ...(found.attributeSchema !== undefined && schemaSeen(found.attributeSchema as Schema | null, declared)),
  };
}

/** Where the service infers the schema: one that somebody has set since, which differs from the inferred one. */
function schemaSeen(
  found: Schema | null,
  { attributeSchema, __inferred }: DatasetState & Partial<Outputs>,
): Partial<DatasetState> {
  if (__inferred !== undefined)
    return { attributeSchema: isDeepStrictEqual(found, JSON.parse(__inferred)) ? null : found };
  return attributeSchema == null ? {} : { attributeSchema: found };
}

function outputs(eventDatasetId: string, { attributeSchema }: DatasetState, answer: Found): Outputs {
  const inferred = attributeSchema == null ? answer.attributeSchema : undefined;
  return { eventDatasetId, ...(inferred !== undefined && { __inferred: JSON.stringify(inferred) }) };
}

async function change(
  eventDatasetId: string,
  args: DatasetState,
  { client, run }: Context,
): Promise<Outputs> {
  const { name, attributeSchema = null } = args;
  const answer = await client.call(routes.updateEventDataset, { eventDatasetId, name, attributeSchema });
  run.eventDatasets.forget();
  return outputs(eventDatasetId, args, answer);
}

/** An existing dataset that can be changed to what is declared. */
async function fitting(id: string, { numShards }: DatasetState, context: Context) {
  const found = await find(id, context);
  if (!found) throw new Error(`existingId ${truncate(id)}: there is no such event dataset in this account`);
  if (found.numShards == null || found.numShards === numShards) return found;
  throw new Error(
    `existingId ${truncate(id)}: it has ${found.numShards} shards and ${numShards} are declared, which cannot be changed; ` +
      `declare numShards: ${found.numShards}`,
  );
}

/** One list answers for all; what is missing in it is asked for by itself, in case the list had only a page. */
async function find(eventDatasetId: string, { client, clock, run }: Context) {
  const list = await run.eventDatasets.get("", clock, async () => {
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    return new Map(eventDatasets.map((dataset) => [dataset.eventDatasetId, dataset]));
  });
  const read = (id: string) => client.call(routes.getEventDataset, { eventDatasetId: id });
  return (
    list.get(eventDatasetId) ??
    undefinedIfMissing(read(eventDatasetId), () => listConfirmsAbsence(list, read))
  );
}
