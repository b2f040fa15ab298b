import { PassThrough, Readable as Stream } from "node:stream";
import type { CsvError, Info, Parser } from "csv-parse";
import { type Row, type Rows, SourceError } from "./row";
import { type Readable, textOf } from "./text";

const rowsAtOnce = 512;
const delimiters = [",", ";", "\t"];

/** The rows of a CSV file whose first line names the columns; the delimiter is the one that line has most of. */
export async function* csvRows(file: Readable, onBytes: (count: number) => void): Rows {
  // Loaded when it is needed: most programs read no CSV.
  const { parse } = require("csv-parse") as typeof import("csv-parse");
  let line = 1;
  let emptyLines = 0;
  const text = textOf(file, onBytes, () => line)[Symbol.asyncIterator]();
  const head = await text.next();
  if (head.done) return;
  const parser = parse({
    columns: (names: string[]) => columnsOf(names, file),
    delimiter: delimiterOf(head.value),
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const stream = Stream.from(joined(head.value, text));
  stream.once("error", (error) => parser.destroy(error));
  stream.pipe(parser);
  let rows: Row[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Cells; info: Info & Faulty }>) {
      const began = line + 1 + info.empty_lines - emptyLines;
      emptyLines = info.empty_lines;
      line = info.lines;
      rows.push(info.error ? { line: began, fault: cellsFault(info.error), text: JSON.stringify(record) } : { line: began, columns: record });
      if (rows.length < rowsAtOnce) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    if (error instanceof SourceError) throw error;
    // What came before the fault is not lost with it.
    if (rows.length > 0) yield rows;
    throw new SourceError(file.shown, line + 1, csvProblem(error as CsvError));
  } finally {
    stream.destroy();
  }
  if (rows.length > 0) yield rows;
}
