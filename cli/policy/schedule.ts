import type { PolicySettings } from "./file";
import { localTimeAt, type Weekday, weekdays } from "./time-zone";

/** Requirements of `recommender.yaml` for promotions to a stage. */
export type StagePolicy = PolicySettings["promotion"]["stages"][string];

type Window = NonNullable<StagePolicy["windows"]>[number];
type Freeze = StagePolicy["freezes"][number];

const minuteMs = 60_000;

/** How far ahead to search. Every window opens within a week, and one more day covers a change of the clocks. */
const searchMs = 8 * 24 * 60 * minuteMs;

/** Whether a promotion may start in a window at an instant. */
export function isInWindow({ days, from, to, timeZone }: Window, ms: number): boolean {
  const { weekday, time } = localTimeAt(ms, timeZone);
  if (from < to) return days.includes(weekday) && from <= time && time < to;
  // The part after midnight belongs to the day on which the window began.
  return (days.includes(weekday) && time >= from) || (days.includes(dayBefore(weekday)) && time < to);
}

/** Returns the freezes at an instant. */
export function freezesAt(freezes: readonly Freeze[], ms: number): Freeze[] {
  return freezes.filter(({ from, to, timeZone }) => {
    const { text } = localTimeAt(ms, timeZone);
    const end = to.includes("T") ? text < to : text.slice(0, 10) <= to;
    return from <= text && end;
  });
}

/** Returns the first instant from `ms` at which a promotion may start, as far as windows and freezes decide. */
export function nextStart(
  { windows, freezes }: Pick<StagePolicy, "windows" | "freezes">,
  ms: number,
): number | undefined {
  let at = ms;
  // Each turn either skips a freeze or moves to the next window, so the number of turns is limited.
  for (let turn = 0; turn <= 2 * freezes.length + 2; turn++) {
    const [freeze] = freezesAt(freezes, at);
    if (freeze) {
      at = endOf(freeze, at);
      continue;
    }
    const opening = windows ? openingFrom(windows, at) : at;
    if (opening === undefined || freezesAt(freezes, opening).length === 0) return opening;
    at = opening;
  }
  return undefined;
}

function openingFrom(windows: readonly Window[], ms: number): number | undefined {
  const first = Math.ceil(ms / minuteMs) * minuteMs;
  if (windows.some((window) => isInWindow(window, ms))) return ms;
  for (let at = first; at <= ms + searchMs; at += minuteMs)
    if (windows.some((window) => isInWindow(window, at))) return at;
  return undefined;
}

/** Returns the end of a freeze, by bisection: local time grows with time, except for an hour when clocks go back. */
function endOf(freeze: Freeze, ms: number): number {
  let [inside, outside] = [ms, Date.parse(`${freeze.to.slice(0, 10)}T00:00Z`) + 3 * 24 * 60 * minuteMs];
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (freezesAt([freeze], middle).length > 0) inside = middle;
    else outside = middle;
  }
  return outside;
}

function dayBefore(day: Weekday): Weekday {
  return weekdays[(weekdays.indexOf(day) + 6) % 7] as Weekday;
}
