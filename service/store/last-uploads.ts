import { formatUpload, parseUpload, type Upload } from "../../contract/upload";
import type { Db } from "./database";
import type { Dataset } from "./tables";

/** Maximum number of uploads that a dataset remembers. Beyond it, the oldest one is dropped. */
const maxUploads = 50;

/** Returns the last upload of each source of a dataset. */
export function lastUploads({ last_uploads: text }: Pick<Dataset, "last_uploads">): string[] {
  return text === null ? [] : (JSON.parse(text) as string[]);
}

/**
 * Stores the upload that an upsert belongs to. It replaces the upload that it builds on, and any other upload that
 * builds on the same one. Once it is stored, further batches write nothing, because concurrent upserts would wait for
 * the row.
 */
export async function noteUpload(db: Db, dataset: Dataset, header: unknown): Promise<void> {
  const upload = typeof header === "string" ? parseUpload(header) : undefined;
  if (!upload) return;
  for (let current = dataset.last_uploads; ; ) {
    const uploads = lastUploads({ last_uploads: current });
    if (uploads.includes(formatUpload(upload))) return;
    const { numUpdatedRows } = await db
      .updateTable("datasets")
      .set({ last_uploads: JSON.stringify(withUpload(uploads, upload)) })
      .where("number", "=", dataset.number)
      .where("last_uploads", current === null ? "is" : "=", current)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) return;
    // A concurrent upsert has changed the row since it was read.
    const row = await db
      .selectFrom("datasets")
      .select("last_uploads")
      .where("number", "=", dataset.number)
      .executeTakeFirst();
    if (!row || row.last_uploads === current) return;
    current = row.last_uploads;
  }
}

function withUpload(uploads: readonly string[], upload: Upload): string[] {
  const others = uploads.filter((text) => {
    const other = parseUpload(text);
    return other && other.basis !== upload.basis && other.token !== upload.basis;
  });
  return [...others, formatUpload(upload)].slice(-maxUploads);
}
