import { type Files, resultName } from "../files/storage/files";
import type { Db } from "../store/database";
import { deletionCount, forgottenSince, type UserSet } from "../store/forgotten";
import { ParquetTable } from "../threads/parquet";
import type { RecommendationFileTask, WrittenFile } from "../threads/recommendation";
import { linesOf, type UserLine } from "./lines";

/** Size of the pieces in which the file is written, in characters. */
const pieceCharacters = 256 * 1024;

/** Combines the chunks of a job into its result. Leaves out users who were forgotten after their chunk was written. */
export async function writeFile(db: Db, files: Files, task: RecommendationFileTask): Promise<WrittenFile> {
  const { format, attributes } = task.asked;
  // Read first. A user who is forgotten later has a higher count, and the file is written again.
  const deletions = await deletionCount(db, task.data.events.id);
  const count = { users: 0 };
  const lines = remainingLines(db, files, task, count);
  const content = format === "ndjson" ? inPieces(lines) : asParquet(lines, attributes.length > 0);
  await files.write(resultName(task.job, format), content);
  return { ...count, deletions };
}

async function* remainingLines(
  db: Db,
  files: Files,
  { chunks, data, job }: RecommendationFileTask,
  count: { users: number },
): AsyncGenerator<string> {
  // All chunks of an attempt have the same count of deletions.
  const forgotten = new Map<number, UserSet>();
  for (const chunk of chunks) {
    const left =
      forgotten.get(chunk.deletions) ?? (await forgottenSince(db, data.events.id, chunk.deletions));
    forgotten.set(chunk.deletions, left);
    for await (const line of linesOf(files, job.id, chunk)) {
      if (left.size > 0 && left.has((JSON.parse(line) as UserLine).user_id)) continue;
      count.users++;
      yield line;
    }
  }
}

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let piece = "";
  for await (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < pieceCharacters) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}

const columns = { user_id: "text", position: "integer", item_id: "text" } as const;

/** Writes a row for each recommended item. Its attributes are a JSON object, because they can have any type. */
async function* asParquet(lines: AsyncIterable<string>, withAttributes: boolean): AsyncGenerator<Uint8Array> {
  const table = await ParquetTable.inMemory(withAttributes ? { ...columns, attributes: "text?" } : columns);
  for await (const line of lines) {
    const { user_id, results } = JSON.parse(line) as UserLine;
    results.forEach(({ item: { item_id, ...attributes } }, at) => {
      table.add(user_id, at + 1, item_id, ...(withAttributes ? [JSON.stringify(attributes)] : []));
    });
    const written = table.take();
    if (written.length > 0) yield written;
  }
  table.finish();
  yield table.take();
}
