import { jsonRow, type Row, type Rows, SourceError } from "./row";
import { type Readable, textOf } from "./text";

const quote = 0x22;
const comma = 0x2c;
const newline = 0x0a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** What may follow a record, by the state of the array around it. */
const expected = {
  none: "an object",
  open: "an object or the end of the array",
  closed: "nothing after the end of the array",
};

/**
 * Reads the rows of a JSON array, or of consecutive JSON objects, in any layout. Splits the text into records and
 * parses each one separately, so the whole file is never in memory.
 */
export async function* jsonRows(file: Readable, onBytes: (count: number) => void): Rows {
  const splitter = new RecordSplitter(file.displayName);
  for await (const chunk of textOf(file, onBytes, () => splitter.line)) {
    const rows = splitter.split(chunk);
    if (rows.length > 0) yield rows;
  }
  splitter.end();
}

class RecordSplitter {
  line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #beganLine = 1;
  /** Part of the current record from earlier chunks. */
  #earlier = "";
  #array: keyof typeof expected = "none";
  #hasContent = false;

  constructor(readonly file: string) {}

  split(text: string): Row[] {
    const rows: Row[] = [];
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text.charCodeAt(at);
      if (char === newline) this.line++;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (char === backslash) this.#escaped = true;
        else if (char === quote) this.#inString = false;
      } else if (this.#depth === 0) {
        if (this.#between(char)) start = at;
      } else if (char === quote) this.#inString = true;
      else if (char === openBrace || char === openBracket) this.#depth++;
      else if ((char === closeBrace || char === closeBracket) && --this.#depth === 0) {
        rows.push(jsonRow(this.#earlier + text.slice(start, at + 1), this.#beganLine));
        this.#earlier = "";
      }
    }
    if (this.#depth > 0) this.#earlier += text.slice(start);
    return rows;
  }

  end(): void {
    if (this.#depth > 0) {
      throw new SourceError(this.file, "the file ends inside the record that begins here", this.#beganLine);
    }
    if (this.#array === "open") throw new SourceError(this.file, "the file ends inside the array", this.line);
  }

  /** Handles a character between records. Returns whether a record begins with it. */
  #between(char: number): boolean {
    if (char <= 0x20 || (char === comma && this.#array === "open")) return false;
    const wasEmpty = !this.#hasContent;
    this.#hasContent = true;
    if (char === openBracket && wasEmpty) {
      this.#array = "open";
      return false;
    }
    if (char === closeBracket && this.#array === "open") {
      this.#array = "closed";
      return false;
    }
    if (char === openBrace && this.#array !== "closed") {
      this.#depth = 1;
      this.#beganLine = this.line;
      return true;
    }
    const found = JSON.stringify(String.fromCharCode(char));
    throw new SourceError(this.file, `expected ${expected[this.#array]}, found ${found}`, this.line);
  }
}
