const maxWidth = 80;
const minWidth = 40;

/** The columns of whoever reads a stream: those of its terminal, or of COLUMNS, or 80. */
export function terminalWidth(stream: NodeJS.WriteStream): number {
  return Math.max(minWidth, stream.columns || Number(process.env.COLUMNS) || maxWidth);
}

/** Words as they stay together: what is between backticks is a command to be copied. */
const wordPattern = /(?:[^\s`]|`[^`\n]*`)+|\S+/g;

/** The same with what is before each. */
const spacedWords = new RegExp(`(\\s*)(${wordPattern.source})`, "g");

/** Text in lines of at most so many columns, with what goes before the first and before the others. */
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

/** The same text with the lines broken that a stream has no room for; what cannot be broken stays whole. */
export function wrapLines(text: string, stream: NodeJS.WriteStream): string {
  const columns = terminalWidth(stream);
  return text
    .split("\n")
    .map((given) => {
      const line = escapeControls(given);
      // A row of Markdown on two lines would be none.
      if (line.length <= columns || line.startsWith("|")) return line;
      const [margin = ""] = /^ *(- )?/.exec(line) ?? [];
      return wrapText(
        line.slice(margin.length),
        margin,
        " ".repeat(margin.length),
        Math.min(columns, maxWidth),
      );
    })
    .join("\n");
}

/** Lines of one cell beyond which the rows are printed one by one. */
const maxCellLines = 4;

/** Rows under their headings, each column as wide as its widest cell; where that is too wide, cells are broken. */
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

/** The rows below each other, where they have no room in columns. */
function stackedRows(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows
    .map((row) => propertyList(headings.map((heading, at) => [heading.toLowerCase(), row[at] || undefined])))
    .join("\n");
}

/** Names and values below each other. */
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

/** Characters that would command a terminal, end a line, or turn around what is read. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept from the terminal.
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** One line of text for the terminal: what would command it is spelled out, as in `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(controlCharacters, (sign) => {
    const json = JSON.stringify(sign).slice(1, -1);
    return json === sign ? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}` : json;
  });
}

function longestWord(text: string): number {
  return Math.max(0, ...(text.match(wordPattern) ?? []).map(({ length }) => length));
}
