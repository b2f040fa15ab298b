import { z } from "zod";
import { id, maybe, recordId } from "./field";
import { originHeaders } from "./origin";
import { route } from "./route";

/** Types of objects that can become orphans, because the specification has no operation to delete them. */
export const orphanTypes = ["USER_DATASET", "ITEM_DATASET", "PROJECT", "ALGORITHM"] as const;

/** Type of an object that can become an orphan. */
export type OrphanType = (typeof orphanTypes)[number];

const objectRef = {
  objectType: z.enum(orphanTypes).describe("Type of the object."),
  objectId: recordId.describe("Id of the object."),
};

export const markOrphaned = route({
  method: "PUT",
  path: "/mark-orphaned",
  summary: "Records that a stack no longer uses an object, or that it uses it again (extension).",
  extension: true,
  request: z.strictObject({
    ...objectRef,
    orphaned: z
      .boolean()
      .default(true)
      .describe(
        "True marks the object as orphaned, unless other stacks use it. False removes the mark, because a stack uses it.",
      ),
  }),
  headers: originHeaders,
  reply: z.object({
    objectType: maybe(z.string()),
    objectId: maybe(id),
    orphaned: maybe(z.boolean()).describe("Whether the object is marked as orphaned now."),
    heldBy: maybe(z.array(z.string())).describe(
      "Stacks that still use the object, as PROJECT/STACK. It is not orphaned then.",
    ),
  }),
});

export const listOrphans = route({
  method: "GET",
  path: "/list-orphans",
  summary: "Lists the orphaned objects (extension).",
  extension: true,
  request: z.strictObject({}),
  reply: z.object({
    orphans: z.array(
      z.object({
        ...objectRef,
        name: z.string(),
        orphanedTs: z.int().describe("When the object was marked, in milliseconds since 1970."),
        orphanedBy: z
          .string()
          .nullable()
          .describe("The resource that created the orphan, as PROJECT/STACK/RESOURCE. Null if unknown."),
        blockedBy: z
          .string()
          .nullable()
          .describe("The reason why the object cannot be deleted, in one sentence. Null if it can."),
      }),
    ),
  }),
});

export const deleteOrphan = route({
  method: "DELETE",
  path: "/delete-orphan",
  summary: "Deletes an orphaned object with everything in it (extension).",
  extension: true,
  request: z.strictObject(objectRef),
  reply: z.object({ objectType: maybe(z.string()), objectId: maybe(id) }),
});
