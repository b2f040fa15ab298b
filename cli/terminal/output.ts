import { CommandError } from "./exit";
import { wrapLines } from "./layout";

/** The options of every command that prints a result. */
export interface OutputOptions {
  readonly json?: true;
}

/** Prints an outcome: as one line of JSON where that was asked for, else as people read it. */
export function print({ json }: OutputOptions, outcome: unknown, text: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : wrapLines(text(), process.stdout));
}

/** Runs a command; with --json an error is on stdout too, beside what was done nonetheless. */
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

/** Says something beside the outcome, where it does not get into the way of a program that reads it. */
export function note(text: string): void {
  process.stderr.write(wrapLines(`${text}\n`, process.stderr));
}

/** A number with its thousands apart. */
export function formatNumber(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** A count with its noun: `1 record`, `2 records`. */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A time as ISO text; the API's own times are in milliseconds. */
export function formatTime(ms: number | null | undefined): string | undefined {
  if (ms == null || Number.isNaN(new Date(ms).getTime())) return undefined;
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** How long something takes, in words. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}
