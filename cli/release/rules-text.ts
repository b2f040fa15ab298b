import { type Rules, rules as rulesSchema } from "../../contract/rules";
import { wrapText } from "../terminal/layout";

/** Describes rules, one line for each rule. Rules with a secret, or of a newer version, are one line of JSON. */
export function ruleLines(given: unknown): string[] {
  if (given === undefined || given === null) return [];
  const parsed = rulesSchema.safeParse(given);
  if (!parsed.success) return [JSON.stringify(given)];
  const { filter, boost = [], bury = [], pin = [], limitPer = [] }: Rules = parsed.data;
  return [
    ...(filter === undefined ? [] : [`filter: ${filter}`]),
    ...boost.map(({ when, factor }) => `boost × ${factor}: ${when}`),
    ...bury.map(({ when, factor }) => `bury × ${factor}: ${when}`),
    ...pin.map(({ itemId, position, when }) => `pin ${itemId} at ${position}${when ? `: ${when}` : ""}`),
    ...limitPer.map(({ attribute, max }) => `at most ${max} per ${attribute}`),
  ].map((line) => line.replace(/\s+/g, " "));
}

/** Returns a diff between rules, in lines of up to 80 columns. Empty if the rules are the same. */
export function ruleDiff(before: unknown, after: unknown, indent = ""): string[] {
  const [old, now] = [ruleLines(before), ruleLines(after)];
  const isSame = (one: readonly string[], other: readonly string[]) => one.join("\n") === other.join("\n");
  if (isSame(old, now)) return [];
  const removed = old.filter((line) => !now.includes(line));
  const added = now.filter((line) => !old.includes(line));
  // If only the order has changed, show all lines. The order decides which of several pins applies.
  const isReordered = removed.length + added.length === 0;
  const marked = (sign: string, lines: readonly string[]) =>
    lines.map((line) => wrapText(line, `${indent}${sign} `, `${indent}${sign}   `));
  return [...marked("-", isReordered ? old : removed), ...marked("+", isReordered ? now : added)];
}
