import { z } from "zod";
import { atMost, attributeName, id, label, mapOf, maybe, recordId, withAliases, withTolerant } from "./field";
import { limits } from "./limits";
import { route } from "./route";

/** How an attribute is handled: a number whose size is meaningful, or one or several categories. */
export const attributeHandling = z.enum(["NUMERICAL", "CATEGORICAL"], {
  error: "expected NUMERICAL or CATEGORICAL",
});

/** How each named attribute is handled; null lets the service infer it. */
export const attributeSchema = withTolerant(
  mapOf(attributeHandling, {
    key: attributeName.max(limits.nameCharacters),
    most: limits.schemaAttributes,
  }),
  mapOf(attributeHandling, { key: attributeName }),
).nullable();

/** What every kind of dataset is created with. */
export const datasetFields = z.strictObject({
  name: label.describe("Name of the dataset."),
  numShards: atMost(z.int().min(1), limits.shards).describe(
    "Number of shards, each of at most 100,000 records; cannot be changed later.",
  ),
  attributeSchema: attributeSchema.default(null).describe("Handling of attributes; null: inferred."),
});

/** Answers carry handling kinds as free text: plans exist that know more kinds than the specification names. */
const answered = {
  name: maybe(z.string()).describe("Name of the dataset."),
  numShards: maybe(z.int()).describe("Number of shards, each of at most 100,000 records."),
  attributeSchema: maybe(mapOf(z.string())).describe("Handling of attributes; null: inferred."),
};

const datasetId = id.describe("Id of the dataset.");
const userDataset = z.object({ userDatasetId: datasetId, ...answered });
const itemDataset = z.object({ itemDatasetId: withAliases(datasetId, "user_dataset_id"), ...answered });
const eventDataset = z.object({ eventDatasetId: withAliases(datasetId, "user_dataset_id"), ...answered });
const eventDatasetRef = z.strictObject({ eventDatasetId: recordId.describe("Id of the dataset.") });

export const createUserDataset = route({
  method: "POST",
  path: "/create-user-dataset",
  summary: "Creates a dataset of users.",
  request: datasetFields,
  reply: userDataset,
});

export const getUserDataset = route({
  method: "GET",
  path: "/get-user-dataset",
  summary: "Reads one user dataset; beyond the specification.",
  extension: true,
  request: z.strictObject({ userDatasetId: recordId.describe("Id of the dataset.") }),
  reply: userDataset,
});

export const createItemDataset = route({
  method: "POST",
  path: "/create-item-dataset",
  summary: "Creates a dataset of items; some services return its id as user_dataset_id.",
  request: datasetFields,
  reply: itemDataset,
});

export const getItemDataset = route({
  method: "GET",
  path: "/get-item-dataset",
  summary: "Reads one item dataset; beyond the specification.",
  extension: true,
  request: z.strictObject({ itemDatasetId: recordId.describe("Id of the dataset.") }),
  reply: itemDataset,
});

export const createEventDataset = route({
  method: "POST",
  path: "/create-event-dataset",
  summary: "Creates a dataset of events; some services return its id as user_dataset_id.",
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
    attributeSchema: attributeSchema.describe("Handling of attributes; null: inferred."),
  }),
  reply: eventDataset,
});

export const getEventDataset = route({
  method: "GET",
  path: "/get-event-dataset",
  summary: "Reads one event dataset.",
  request: eventDatasetRef,
  reply: eventDataset,
});

export const listEventDatasets = route({
  method: "GET",
  path: "/list-event-datasets",
  summary: "Lists the event datasets of the account.",
  request: z.strictObject({}),
  reply: z.object({ eventDatasets: z.array(eventDataset).describe("The event datasets that there are.") }),
});

export const deleteEventDataset = route({
  method: "DELETE",
  path: "/delete-event-dataset",
  summary: "Deletes an event dataset with its events; returns what it was.",
  request: eventDatasetRef,
  // The dataset is gone whatever the answer holds, so nothing in it is needed.
  reply: eventDataset.partial(),
});
