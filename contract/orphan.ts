import { z } from "zod";
import { id, maybe, recordId } from "./field";
import { originHeaders } from "./origin";
import { route } from "./route";

/** The kinds of object that the specification cannot delete, so a replacement leaves them behind. */
export const orphanTypes = ["USER_DATASET", "ITEM_DATASET", "PROJECT", "ALGORITHM"] as const;

/** One of those kinds. */
export type OrphanType = (typeof orphanTypes)[number];

const objectRef = {
  objectType: z.enum(orphanTypes).describe("Kind of object."),
  objectId: recordId.describe("Id of the object."),
};

export const markOrphaned = route({
  method: "PUT",
  path: "/mark-orphaned",
  summary: "Marks an object as orphaned, or takes the mark away; beyond the specification.",
  extension: true,
  request: z.strictObject({
    ...objectRef,
    orphaned: z
      .boolean()
      .default(true)
      .describe("False takes the mark away: a program holds the object again."),
  }),
  headers: originHeaders,
  reply: z.object({ objectType: maybe(z.string()), objectId: maybe(id), orphaned: maybe(z.boolean()) }),
});

export const listOrphans = route({
  method: "GET",
  path: "/list-orphans",
  summary: "Lists the objects that are marked as orphaned; beyond the specification.",
  extension: true,
  request: z.strictObject({}),
  reply: z.object({
    orphans: z.array(
      z.object({
        ...objectRef,
        name: z.string(),
        orphanedTs: z.int().describe("When it was marked, in milliseconds since 1970."),
        orphanedBy: z
          .string()
          .nullable()
          .describe("The resource that left it behind, as PROJECT/STACK/RESOURCE; null if it is unknown."),
        blockedBy: z
          .string()
          .nullable()
          .describe("Why it cannot be deleted now, in one sentence; null if it can."),
      }),
    ),
  }),
});

export const deleteOrphan = route({
  method: "DELETE",
  path: "/delete-orphan",
  summary: "Deletes an orphaned object with everything in it; beyond the specification.",
  extension: true,
  request: z.strictObject(objectRef),
  reply: z.object({ objectType: maybe(z.string()), objectId: maybe(id) }),
});
