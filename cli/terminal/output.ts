import { CommandError } from "./exit";
import { wrapLines } from "./layout";

/** Options of all commands that print a result. */
export interface OutputOptions {
  readonly json?: true;
}

/** Formats example calls for the end of a command's help. */
export function examples(...calls: readonly string[]): string {
  return `\nExamples:\n${calls.map((call) => `  recommender ${call}`).join("\n")}`;
}

/** Prints the result of a command: one line of JSON with `--json`, otherwise text. */
export function print({ json }: OutputOptions, outcome: unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : wrapLines(text(), process.stdout));
}

/** Runs a command. With `--json`, an error is also printed to standard output, together with the results so far. */
export async function withJsonErrors<T>({ json }: OutputOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { message } = error as Error;
    const outcome = error instanceof CommandError ? error.outcome : {};
    if (json) process.stdout.write(`${JSON.stringify({ ...outcome, error: { message } })}\n`);
    throw error;
  }
}

/** Runs `work` for each item, then reports the completed items, even if an item failed. */
export async function forEachReported<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  report: (completed: readonly T[]) => void,
): Promise<void> {
  const completed: T[] = [];
  try {
    for (const item of items) {
      await work(item);
      completed.push(item);
    }
  } finally {
    report(completed);
  }
}

/** Prints the deleted objects. */
export function printDeleted(options: OutputOptions, deleted: readonly string[]): void {
  print(options, { deleted }, () => deleted.map((id) => `Deleted ${id}\n`).join("") || "Deleted nothing\n");
}

/** Prints a message to standard error, to keep it out of the result that a script reads. */
export function note(text: string): void {
  process.stderr.write(wrapLines(`${text}\n`, process.stderr));
}

/** Removes properties that are undefined, for objects with optional properties. */
export function defined<T extends object>(properties: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(properties).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Formats a whole number with thousands separators. */
export function formatNumber(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** Formats a share as a percentage, such as `2.5 %`. */
export function formatShare(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}

/** Formats a count with its noun: `1 record`, `2 records`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a time in milliseconds as ISO 8601. Undefined if it is missing or invalid. */
export function formatTime(ms: number | null | undefined): string | undefined {
  if (ms == null || Number.isNaN(new Date(ms).getTime())) return undefined;
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** Formats a duration, such as `2 min 5 s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
