const maxWidth = 80;
const minWidth = 40;

/** Returns the width of the terminal, or COLUMNS, or 80, but at least 40. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return Math.max(minWidth, stream.columns || Number(process.env.COLUMNS) || maxWidth);
}

/** Text that is never split over two lines: a word, or a command between backticks that users copy. */
const wordPattern = /(?:[^\s`]|`[^`\n]*`)+|\S+/g;

const spacedWords = new RegExp(`(\\s*)(${wordPattern.source})`, "g");

/** Wraps text at `columns`. `first` and `rest` are the prefixes of the first line and of the other lines. */
export function wrapText(text: string, first = "", rest = "", columns = maxWidth): string {
  const lines: string[] = [];
  let line = first;
  for (const [, before = "", word = ""] of text.matchAll(spacedWords)) {
    const space = before.includes("\n") ? " " : before;
    const start = lines.length === 0 ? first : rest;
    if (line === start) line += word;
    else if (line.length + space.length + word.length <= columns) line += space + word;
    else {
      lines.push(line);
      line = rest + word;
    }
  }
  return [...lines, line].join("\n");
}

/** Wraps the lines that are too long for a terminal. Long words, such as ids and addresses, are not split. */
export function wrapLines(text: string, stream: NodeJS.WriteStream): string {
  const columns = terminalWidth(stream);
  return text
    .split("\n")
    .map((given) => {
      const line = escapeControls(given);
      // A Markdown table row must stay on one line.
      if (line.length <= columns || line.startsWith("|")) return line;
      const [margin = ""] = /^ *(- )?/.exec(line) ?? [];
      const indent = " ".repeat(margin.length);
      return wrapText(line.slice(margin.length), margin, indent, Math.min(columns, maxWidth));
    })
    .join("\n");
}

/** Maximum lines of a table cell. If a cell is taller, each row is printed as a list of properties. */
const maxCellLines = 4;

/** Formats a table. If it is wider than the terminal, the widest columns are wrapped. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = terminalWidth(process.stdout);
  const cells = [headings, ...rows].map((row) => row.map(escapeControls));
  const widest = (measure: (cell: string) => number) =>
    headings.map((_, at) => Math.max(...cells.map((row) => measure(row[at] ?? ""))));
  const widths = widest((cell) => cell.length);
  const narrowest = widest(longestWord);
  const gaps = 2 * (headings.length - 1);
  for (let over = widths.reduce((sum, width) => sum + width, gaps) - columns; over > 0; over--) {
    const room = widths.map((width, at) => (width > (narrowest[at] as number) ? width : 0));
    const at = room.indexOf(Math.max(...room));
    if (room[at] === 0) return stackedRows(headings, rows);
    (widths[at] as number)--;
  }
  const broken = cells.map((row) =>
    row.map((cell, at) => {
      const width = widths[at] as number;
      return cell.length > width ? wrapText(cell, "", "", width).split("\n") : [cell];
    }),
  );
  if (broken.flat().some(({ length }) => length > maxCellLines)) return stackedRows(headings, rows);
  const lines = broken.flatMap((row) =>
    Array.from({ length: Math.max(...row.map(({ length }) => length)) }, (_, line) =>
      row
        .map((cell, at) => (cell[line] ?? "").padEnd(widths[at] as number))
        .join("  ")
        .trimEnd(),
    ),
  );
  return `${lines.join("\n")}\n`;
}

/** Formats each row as a list of properties, for tables that are too wide. */
function stackedRows(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows
    .map((row) => propertyList(headings.map((heading, at) => [heading.toLowerCase(), row[at] || undefined])))
    .join("\n");
}

/** Formats names and values in two columns. Undefined values are left out. */
export function propertyList(entries: readonly (readonly [string, string | undefined])[]): string {
  const columns = terminalWidth(process.stdout);
  const known = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length)) + 2;
  const lines = known.map(([name, given]) => {
    const value = escapeControls(given);
    if (width + value.length <= columns) return name.padEnd(width) + value;
    if (width + longestWord(value) <= columns)
      return wrapText(value, name.padEnd(width), " ".repeat(width), columns);
    return `${name}\n${wrapText(value, "  ", "  ", columns)}`;
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** Characters that control a terminal, end a line or reverse the reading direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern finds control characters.
export const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g;

/** Escapes control characters in one line of text, as in `\u001b`. */
export function escapeControls(text: string): string {
  const escapeOne = (character: string) => {
    const json = JSON.stringify(character).slice(1, -1);
    return json === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : json;
  };
  return text.replace(controlCharacters, (run) => [...run].map(escapeOne).join(""));
}

function longestWord(text: string): number {
  return Math.max(0, ...(text.match(wordPattern) ?? []).map(({ length }) => length));
}
