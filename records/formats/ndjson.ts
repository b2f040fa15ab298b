import { jsonRow, type Row, type Rows, SourceError } from "./row";
import { type Readable, textOf } from "./text";

/** Maximum length of a line. A longer line means that the file is not NDJSON. */
const maxLine = 32 * 1024 * 1024;

/** Reads the rows of a file with one JSON object per line. Skips empty lines. */
export async function* ndjsonRows(file: Readable, onBytes: (count: number) => void): Rows {
  let line = 1;
  let rest = "";
  const take = (text: string, rows: Row[]) => {
    if (text.trim() !== "") rows.push(jsonRow(text, line));
    line++;
  };
  for await (const chunk of textOf(file, onBytes, () => line)) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    if (rest.length > maxLine) {
      throw new SourceError(file.displayName, "the line is longer than 32 MB; is this NDJSON?", line);
    }
    const rows: Row[] = [];
    for (const text of lines) take(text, rows);
    if (rows.length > 0) yield rows;
  }
  const rows: Row[] = [];
  take(rest, rows);
  if (rows.length > 0) yield rows;
}
