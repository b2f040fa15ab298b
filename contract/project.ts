import { z } from "zod";
import { eventType, id, label, maybe, recordId } from "./field";
import { originHeaders } from "./origin";
import { route } from "./route";

/** Project types in the specification. */
export const projectType = z.enum(["RECOMMEND_ITEMS_TO_USER"], { error: "expected RECOMMEND_ITEMS_TO_USER" });

/** Fields of a new project. */
export const projectFields = z.strictObject({
  name: label.describe("Name of the project."),
  projectType: projectType.default("RECOMMEND_ITEMS_TO_USER").describe("What the project recommends."),
  userDatasetId: recordId.describe("Id of the user dataset."),
  itemDatasetId: recordId.describe("Id of the item dataset."),
  eventDatasetId: recordId.describe("Id of the event dataset. Several projects can share it."),
  targetEventType: eventType.describe("The event type that models are optimized for."),
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
  headers: originHeaders,
  reply: project,
});

export const listRecentUsers = route({
  method: "GET",
  path: "/list-recent-users",
  summary: "Lists up to 100 users of a project with recent events, the most recent first (extension).",
  extension: true,
  request: z.strictObject({ projectId: recordId }),
  reply: z.object({ projectId: id, userIds: z.array(z.string()) }),
});

export const getProject = route({
  method: "GET",
  path: "/get-project",
  summary: "Reads a project (extension).",
  extension: true,
  request: z.strictObject({ projectId: recordId }),
  reply: project,
});
