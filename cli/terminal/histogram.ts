import { formatCount, formatNumber } from "./output";

/** One bar: the number of users whose usage is from `from` up to `to`. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly users: number;
}

/** Bars that are 0 to 7 eighths of a column long. */
const blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws a histogram with one line per bin, at most `columns` wide. */
export function histogram(title: string, bins: readonly Bin[], columns: number): string {
  const total = bins.reduce((sum, { users }) => sum + users, 0);
  const most = Math.max(1, ...bins.map(({ users }) => users));
  const decimals = decimalsFor(bins);
  const ranges = bins.map(({ from, to }) => `${from.toFixed(decimals)} – ${to.toFixed(decimals)}`);
  const rangeWidth = Math.max(5, ...ranges.map((range) => range.length));
  const countWidth = Math.max(5, ...bins.map(({ users }) => formatNumber(users).length));
  const space = Math.max(10, columns - rangeWidth - countWidth - 4);
  const lines = bins.map(({ users }, at) => {
    const label = (ranges[at] as string).padStart(rangeWidth);
    return `${label}  ${formatNumber(users).padStart(countWidth)}  ${bar((users / most) * space)}`.trimEnd();
  });
  const head = `${"usage".padStart(rangeWidth)}  ${"users".padStart(countWidth)}`;
  return `${title}, ${formatCount(total, "user")}\n\n${[head, ...lines].join("\n")}\n`;
}

/** Draws a bar with a resolution of an eighth of a column. A count above zero is always visible. */
function bar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + (blocks[eighths % 8] as string);
}

/** Returns the number of decimals that is needed to tell the edges of all bins apart. */
function decimalsFor(bins: readonly Bin[]): number {
  const width = Math.min(...bins.map(({ from, to }) => to - from));
  return width > 0 && width < 1 ? Math.min(6, Math.ceil(-Math.log10(width)) + (isRound(width) ? 0 : 1)) : 0;
}

function isRound(width: number): boolean {
  const power = 10 ** Math.ceil(-Math.log10(width));
  return Math.abs(width * power - Math.round(width * power)) < 1e-9;
}
