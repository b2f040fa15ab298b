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

/**
 * The rows of a JSON array, or of JSON objects one after the other, however they are laid out.
 * Only the ends of its members are looked for here, so that the file is never in memory as a whole; each member is then
 * parsed by itself.
 */
export async function* jsonRows(file: Readable, onBytes: (count: number) => void): Rows {
  const cutter = new Cutter(file.displayName);
  for await (const chunk of textOf(file, onBytes, () => cutter.line)) {
    const rows = cutter.cut(chunk);
    if (rows.length > 0) yield rows;
  }
  cutter.end();
}

class Cutter {
  line = 1;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #beganLine = 1;
  /** What of a member has come in earlier pieces. */
  #earlier = "";
  #array: "none" | "open" | "closed" = "none";
  #anything = false;

  constructor(readonly file: string) {}

  cut(text: string): Row[] {
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
      throw new SourceError(this.file, this.#beganLine, "the file ends inside the record that begins here");
    }
    if (this.#array === "open")
      throw new SourceError(this.file, this.line, "the file ends before its array does");
  }

  /** Looks at a character between members; true where a member begins. */
  #between(char: number): boolean {
    if (char <= 0x20 || (char === comma && this.#array === "open")) return false;
    const wasEmpty = !this.#anything;
    this.#anything = true;
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
    throw new SourceError(this.file, this.line, `expected an object or the array's end, found ${found}`);
  }
}
