import { toUSVString } from "node:util";
import { shortened } from "../base/error";

/** Number of users whose usage (a share from 0 to 1) is between `from` and `to`. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly users: number;
}

const [width, height, top, bottom, right] = [600, 360, 44, 304, 584];

/** Draws a histogram of users by usage as SVG. */
export function chart(title: string, bars: readonly Bar[]): string {
  const most = bars.reduce((most, { users }) => Math.max(most, users), 0);
  const total = bars.reduce((sum, { users }) => sum + users, 0);
  const ticks = ticksUpTo(Math.max(1, most));
  const highest = ticks.at(-1) as number;
  const left = 40 + 7 * grouped(highest).length;
  const x = (usage: number) => rounded(left + usage * (right - left));
  const y = (users: number) => rounded(bottom - (users / highest) * (bottom - top));

  const label = (at: string, anchor: string, text: string) =>
    `<text ${at} text-anchor="${anchor}">${text}</text>`;
  const rows = ticks.map(
    (users) =>
      `<path d="M${left} ${y(users)}H${right}" stroke="#ddd"/>` +
      label(`x="${left - 8}" y="${y(users) + 4}"`, "end", grouped(users)),
  );
  const columns = [0, 0.2, 0.4, 0.6, 0.8, 1].map((usage) =>
    label(`x="${x(usage)}" y="${bottom + 18}"`, "middle", String(usage)),
  );
  const outline = bars.map(({ from, to, users }) => {
    const gap = x(to) - x(from) > 3 ? 1 : 0;
    // A bar has at least one pixel, so a few users stay visible next to many.
    const end = Math.min(y(users), bottom - 1);
    return users === 0 ? "" : `M${rounded(x(from) + gap)} ${bottom}V${end}H${x(to)}V${bottom}`;
  });

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<title>${escaped(title)}</title>`,
    `<desc>Users: ${grouped(total)}, in ${bars.length} bars of up to ${grouped(most)}.</desc>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="26" font-size="14" font-weight="bold">${escaped(shortened(title, 72))}</text>`,
    ...rows,
    ...columns,
    `<path d="${outline.join("")}" fill="#4c78a8"/>`,
    `<path d="M${left} ${bottom}H${right}" stroke="#333"/>`,
    label(`x="${(left + right) / 2}" y="${bottom + 40}"`, "middle", "usage"),
    label(`transform="translate(20 ${(top + bottom) / 2}) rotate(-90)"`, "middle", "users"),
    "</svg>",
  ].join("\n");
}

/** Returns about five round numbers from 0 up to `most` or the next round number. */
function ticksUpTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 2.5));
  const step = Math.max(1, power * ([1, 2, 5].find((factor) => factor * power * 5 >= most) ?? 10));
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, at) => at * step);
}

function grouped(count: number): string {
  return count.toLocaleString("en");
}

function rounded(place: number): number {
  return Math.round(place * 1000) / 1000;
}

function escaped(text: string): string {
  return (
    toUSVString(text)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain these characters.
      .replace(/[\x00-\x1f\x7f\ufffe\uffff]/g, "\ufffd")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
  );
}
