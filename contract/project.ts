import { z } from "zod";
import { eventType, id, label, maybe, recordId } from "./field";
import { route } from "./route";

/** The kinds of project that the specification names. */
export const projectType = z.enum(["RECOMMEND_ITEMS_TO_USER"], { error: "expected RECOMMEND_ITEMS_TO_USER" });

/** What a project is created with. */
export const projectFields = z.strictObject({
  name: label.describe("Name of the project."),
  projectType: projectType.default("RECOMMEND_ITEMS_TO_USER").describe("What the project recommends."),
  userDatasetId: recordId.describe("Dataset of its users."),
  itemDatasetId: recordId.describe("Dataset of its items."),
  eventDatasetId: recordId.describe("Dataset of its events; several projects may share one."),
  targetEventType: eventType.describe("The event type that models are optimised for."),
});

const project = z.object({
  projectId: id,
  name: maybe(z.string()),
  projectType: maybe(z.string()),
  userDatasetId: maybe(z.string()),
  itemDatasetId: maybe(z.string()),
  eventDatasetId: maybe(z.string()),
  targetEventType: maybe(z.string()),
  servingUri: maybe(z.string()),
});

export const createProject = route({
  method: "POST",
  path: "/create-project",
  summary: "Creates a project from a user, an item and an event dataset.",
  request: projectFields,
  reply: project,
});

export const getProject = route({
  method: "GET",
  path: "/get-project",
  summary: "Reads one project; beyond the specification.",
  extension: true,
  request: z.strictObject({ projectId: recordId }),
  reply: project,
});
