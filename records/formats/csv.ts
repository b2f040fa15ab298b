import { Readable as Stream } from "node:stream";
import type { CsvError, Info } from "csv-parse";
import { type Row, type Rows, SourceError } from "./row";
import { type Readable, textOf } from "./text";

const rowsPerChunk = 512;
const delimiters = [",", ";", "\t"];
const maxFirstLine = 1024 * 1024;
const noCallbacks = [() => undefined, () => 1] as const;

type Cells = Record<string, string>;
type Parsed = { readonly record: Cells; readonly info: Info & { readonly error?: CsvError } };

/** Reads the columns from the first line of a CSV file. Undefined if that line cannot be read. */
export async function csvColumns(file: Readable): Promise<string[] | undefined> {
  const { parse } = require("csv-parse/sync") as typeof import("csv-parse/sync");
  let text = "";
  for await (const piece of textOf(file, ...noCallbacks)) {
    text += piece;
    if (firstLine(text).isEnded || text.length > maxFirstLine) break;
  }
  const { line, isEnded, isWhole } = firstLine(text);
  if (line === "" || !(isEnded || isWhole)) return undefined;
  const [names = []] = parse(line, { delimiter: delimiterOf(line) });
  return columnsOf(names, file);
}

/** Reads the rows of a CSV file. The first line contains the columns, and its most frequent delimiter is used. */
export async function* csvRows(file: Readable, onBytes: (count: number) => void): Rows {
  // Loaded on demand, because most programs read no CSV.
  const { parse } = require("csv-parse") as typeof import("csv-parse");
  let line = 1;
  let emptyLines = 0;
  let counted = 1;
  const text = textOf(file, onBytes, () => line)[Symbol.asyncIterator]();
  const head = await text.next();
  if (head.done) return;
  const first = firstLine(head.value);
  const parser = parse({
    columns: (names: string[]) => columnsOf(names, file),
    delimiter: delimiterOf(first.line),
    record_delimiter: first.lineEnds,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const stream = Stream.from(following(head.value, text));
  stream.once("error", (error) => parser.destroy(error));
  stream.pipe(parser);
  let rows: Row[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      const began = line + 1 + info.empty_lines - emptyLines;
      emptyLines = info.empty_lines;
      const spanned = info.lines - counted;
      counted = info.lines;
      // The parser counts a Windows line ending inside a cell twice.
      line += spanned > 1 ? spanned - windowsLineEnds(record) : spanned;
      rows.push(rowAt(began, record, info.error));
      if (rows.length < rowsPerChunk) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    // Rows before the error are still valid.
    if (rows.length > 0) yield rows;
    if (error instanceof SourceError) throw error;
    throw new SourceError(file.displayName, problemOf(error as CsvError), line + 1);
  } finally {
    stream.destroy();
  }
  if (rows.length > 0) yield rows;
}

function windowsLineEnds(cells: Cells): number {
  return Object.values(cells).reduce((sum, cell) => sum + cell.split("\r\n").length - 1, 0);
}

function rowAt(line: number, cells: Cells, error: CsvError | undefined): Row {
  if (!error) return { line, columns: cells };
  const counts = /length is (\d+), got (\d+)/.exec(error.message);
  const fault = counts ? `${counts[2]} cells, but the first line has ${counts[1]} columns` : problemOf(error);
  return { line, fault, text: JSON.stringify(cells) };
}

function columnsOf(names: readonly string[], file: Readable): string[] {
  const columns = names.map((name) => name.trim());
  const twice = columns.find((name, at) => columns.indexOf(name) !== at);
  if (twice !== undefined)
    throw new SourceError(file.displayName, `two columns have the name ${JSON.stringify(twice)}`, 1);
  return columns;
}

/** Returns the first non-empty line and the line endings. Old systems end lines with a carriage return only. */
function firstLine(text: string) {
  const start = /^[\r\n]*/.exec(text)?.[0].length ?? 0;
  const line = /^(?:"(?:[^"]|"")*"|[^"\r\n]+)*/.exec(text.slice(start))?.[0] ?? "";
  const [end, next] = text.slice(start + line.length, start + line.length + 2);
  const lineEnds = end === "\r" && next !== "\n" ? ["\r"] : ["\r\n", "\n"];
  return { line, lineEnds, isEnded: end === "\r" || end === "\n", isWhole: end === undefined };
}

function delimiterOf(firstLine: string): string {
  const counts = delimiters.map((delimiter) => firstLine.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] as string;
}

async function* following(head: string, rest: AsyncIterator<string>): AsyncIterable<string> {
  yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function problemOf(error: CsvError): string {
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return "a quote that opens in this record is never closed";
  if (error.code === "CSV_INVALID_CLOSING_QUOTE")
    return "text follows a closing quote; write a quote inside a quoted cell twice";
  if (error.code === "INVALID_OPENING_QUOTE")
    return "an unquoted cell contains a quote; put the cell in quotes and write the inner quote twice";
  // The end of the message contains a cell, which may be secret.
  return error.message.replace(/,? value is .*$/s, "");
}
