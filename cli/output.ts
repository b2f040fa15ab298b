/** What every command that tells something can be asked for. */
export interface OutputOptions {
  readonly json?: true;
}

/** Prints an outcome: as one line of JSON where that was asked for, else as people read it. */
export function print({ json }: OutputOptions, outcome: unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : text());
}

/** Says something beside the outcome, where it does not get into the way of a program that reads it. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Rows under their headings, each column as wide as its widest cell; on a terminal, cut where it ends. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(shown));
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const room = process.stdout.columns || Number.POSITIVE_INFINITY;
  const line = (row: readonly string[]) => {
    const whole = row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
    return whole.trimEnd().length > room ? `${whole.slice(0, room - 1)}…` : whole.trimEnd();
  };
  return `${cells.map(line).join("\n")}\n`;
}

/** Names and values below each other. */
export function properties(entries: readonly (readonly [string, string | undefined])[]): string {
  const known = entries.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}\n`).join("");
}

/** A text of somebody else for the terminal: without characters that would command it. */
export function shown(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept from the terminal.
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "�");
}

/** A number with its thousands apart. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** A count with its noun: `1 record`, `2 records`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A time as ISO text; the API's own times are in milliseconds. */
export function moment(ms: number | null | undefined): string | undefined {
  if (ms == null || Number.isNaN(new Date(ms).getTime())) return undefined;
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** How long something takes, in words. */
export function lasting(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
