import { formatUpload, parseUpload, type Upload } from "../../contract/upload";
import { ServiceError } from "../base/error";
import type { Db } from "./database";
import type { Dataset } from "./tables";

/** Maximum number of uploads that a dataset remembers. Beyond it, the oldest one is dropped. */
const maxUploads = 50;
/** Maximum number of replaced uploads whose late batches are rejected. Beyond it, the oldest one is dropped. */
const maxReplaced = 200;

/** Returns the last upload of each source of a dataset. */
export function lastUploads({ last_uploads }: Pick<Dataset, "last_uploads">): string[] {
  return textsIn(last_uploads);
}

/**
 * Stores the upload that an upsert belongs to. It replaces the upload that it builds on, and any other upload that
 * builds on the same one. Once it is stored, further batches write nothing, because concurrent upserts would wait for
 * the row. Rejects a batch of a replaced upload, because a proxy may have held it back until the later upload had
 * ended. Call it after the records are written: then their rows are locked, and a later upload writes them last.
 */
export async function noteUpload(db: Db, { number }: Dataset, header: unknown): Promise<void> {
  const upload = typeof header === "string" ? parseUpload(header) : undefined;
  if (!upload) return;
  for (;;) {
    const row = await db
      .selectFrom("datasets")
      .select(["last_uploads", "replaced_uploads"])
      .where("number", "=", number)
      .executeTakeFirstOrThrow();
    if (textsIn(row.replaced_uploads).includes(upload.token)) throw new ServiceError("CONFLICT", tooLate);
    if (lastUploads(row).includes(formatUpload(upload))) return;
    const { numUpdatedRows } = await db
      .updateTable("datasets")
      .set(withUpload(row, upload))
      .where("number", "=", number)
      .where("last_uploads", row.last_uploads === null ? "is" : "=", row.last_uploads)
      .executeTakeFirstOrThrow();
    // If no row was updated, a concurrent upsert has changed the row since it was read.
    if (numUpdatedRows > 0n) return;
  }
}

const tooLate =
  "A later upload of the same source has replaced the upload of this batch, so its records were not stored. " +
  "Let only one machine upload a source at a time, and upload it again if its records are not current.";

type Uploads = Pick<Dataset, "last_uploads" | "replaced_uploads">;

function withUpload(row: Uploads, upload: Upload): Uploads {
  const [kept, replaced]: [string[], string[]] = [[], [upload.basis]];
  for (const text of lastUploads(row)) {
    const other = parseUpload(text);
    if (other && other.basis !== upload.basis && other.token !== upload.basis) kept.push(text);
    else if (other) replaced.push(other.token);
  }
  const allReplaced = new Set([...textsIn(row.replaced_uploads), ...replaced]);
  return {
    last_uploads: JSON.stringify([...kept, formatUpload(upload)].slice(-maxUploads)),
    replaced_uploads: JSON.stringify([...allReplaced].slice(-maxReplaced)),
  };
}

function textsIn(json: string | null): string[] {
  return json === null ? [] : (JSON.parse(json) as string[]);
}
