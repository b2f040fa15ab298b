import { z } from "zod";
import { atMost, attributeName, id, label, mapOf, maybe, recordId, withAliases, withTolerant } from "./field";
import { limits } from "./limits";
import { originHeaders } from "./origin";
import { route } from "./route";

/** How an attribute is interpreted: as a number, or as one or more categories. */
export const attributeHandling = z.enum(["NUMERICAL", "CATEGORICAL"], {
  error: "expected NUMERICAL or CATEGORICAL",
});

const handlingText = "How each attribute is interpreted. If null, the service infers it.";

/** How each attribute is interpreted, by name. */
export const attributeSchema = withTolerant(
  mapOf(attributeHandling, {
    key: attributeName.max(limits.nameCharacters),
    most: limits.schemaAttributes,
  }),
  mapOf(attributeHandling, { key: attributeName }),
).nullable();

/** Fields of a new dataset, the same for users, items and events. */
export const datasetFields = z.strictObject({
  name: label.describe("Name of the dataset."),
  numShards: atMost(z.int().min(1), limits.shards).describe(
    "Number of shards. Each holds up to 100,000 records. Cannot be changed later.",
  ),
  attributeSchema: attributeSchema.default(null).describe(handlingText),
});

/**
 * Fields in replies. Attribute handling is any text, because some plans offer more kinds than the specification
 * defines.
 */
const replyFields = {
  name: maybe(z.string()).describe("Name of the dataset."),
  numShards: maybe(z.int()).describe("Number of shards. Each holds up to 100,000 records."),
  attributeSchema: maybe(mapOf(z.string())).describe(handlingText),
};

const datasetId = id.describe("Id of the dataset.");
const userDataset = z.object({ userDatasetId: datasetId, ...replyFields });
const itemDataset = z.object({ itemDatasetId: withAliases(datasetId, "user_dataset_id"), ...replyFields });
const eventDataset = z.object({ eventDatasetId: withAliases(datasetId, "user_dataset_id"), ...replyFields });
const eventDatasetRef = z.strictObject({ eventDatasetId: recordId.describe("Id of the dataset.") });

export const createUserDataset = route({
  method: "POST",
  path: "/create-user-dataset",
  summary: "Creates a user dataset.",
  request: datasetFields,
  headers: originHeaders,
  reply: userDataset,
});

export const getUserDataset = route({
  method: "GET",
  path: "/get-user-dataset",
  summary: "Reads a user dataset (extension).",
  extension: true,
  request: z.strictObject({ userDatasetId: recordId.describe("Id of the dataset.") }),
  reply: userDataset,
});

export const createItemDataset = route({
  method: "POST",
  path: "/create-item-dataset",
  summary: "Creates an item dataset. Some services return its id as user_dataset_id.",
  request: datasetFields,
  headers: originHeaders,
  reply: itemDataset,
});

export const getItemDataset = route({
  method: "GET",
  path: "/get-item-dataset",
  summary: "Reads an item dataset (extension).",
  extension: true,
  request: z.strictObject({ itemDatasetId: recordId.describe("Id of the dataset.") }),
  reply: itemDataset,
});

export const createEventDataset = route({
  method: "POST",
  path: "/create-event-dataset",
  summary: "Creates an event dataset. Some services return its id as user_dataset_id.",
  request: datasetFields,
  reply: eventDataset,
});

export const updateEventDataset = route({
  method: "PUT",
  path: "/update-event-dataset",
  summary: "Changes the name and the attribute schema of an event dataset.",
  request: z.strictObject({
    eventDatasetId: eventDatasetRef.shape.eventDatasetId,
    name: datasetFields.shape.name,
    attributeSchema: attributeSchema.describe(handlingText),
  }),
  reply: eventDataset,
});

export const getEventDataset = route({
  method: "GET",
  path: "/get-event-dataset",
  summary: "Reads an event dataset.",
  request: eventDatasetRef,
  reply: eventDataset,
});

export const listEventDatasets = route({
  method: "GET",
  path: "/list-event-datasets",
  summary: "Lists the event datasets of the account.",
  request: z.strictObject({}),
  reply: z.object({ eventDatasets: z.array(eventDataset).describe("The event datasets.") }),
});

export const deleteEventDataset = route({
  method: "DELETE",
  path: "/delete-event-dataset",
  summary: "Deletes an event dataset with its events, and returns the deleted dataset.",
  request: eventDatasetRef,
  reply: eventDataset,
});
