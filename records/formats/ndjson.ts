import { jsonRow, type Row, type Rows, SourceError } from "./row";
import { type Readable, textOf } from "./text";

/** A line that is longer is no record but another format. */
const longestLine = 32 * 1024 * 1024;

/** The rows of a file with one JSON object per line; empty lines are passed over. */
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
    if (rest.length > longestLine) {
      throw new SourceError(file.displayName, line, "the line does not end within 32 MB; is this NDJSON?");
    }
    const rows: Row[] = [];
    for (const text of lines) take(text, rows);
    if (rows.length > 0) yield rows;
  }
  const rows: Row[] = [];
  take(rest, rows);
  if (rows.length > 0) yield rows;
}
