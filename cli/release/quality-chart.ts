import { controlCharacters } from "../terminal/layout";
import type { TimelineEntry } from "./timeline";

const [width, height] = [760, 320];
const pad = { left: 56, right: 20, top: 44, bottom: 60 };
const colours = ["#0a54b8", "#b3541e", "#12692f", "#7a3fa0", "#a3121c", "#4a5560"];
const legendWidth = 170;

/** Quality of a live model. */
interface Point {
  readonly at: number;
  readonly ndcg: number;
  readonly entry: TimelineEntry;
}

/**
 * Draws the NDCG@20 of the live models over time as a self-contained SVG image, with one line per stack and
 * deployment. A hollow point is a rollback. Returns undefined if no quality is known.
 */
export function qualityChart(timeline: readonly TimelineEntry[]): string | undefined {
  const series = seriesOf(timeline);
  const all = [...series.values()].flat();
  if (all.length === 0) return undefined;
  const [first, last] = [Math.min(...all.map(({ at }) => at)), Math.max(...all.map(({ at }) => at))];
  const marks = marksUpTo(Math.max(...all.map(({ ndcg }) => ndcg)));
  const top = marks.at(-1) as number;
  const plot = { width: width - pad.left - pad.right, height: height - pad.top - pad.bottom };
  const x = (at: number) =>
    last === first ? pad.left + plot.width / 2 : pad.left + ((at - first) / (last - first)) * plot.width;
  const y = (ndcg: number) => height - pad.bottom - (ndcg / top) * plot.height;
  const lines = [...series].map(([name, points], index) => {
    const colour = colours[index % colours.length] as string;
    // A model stays live until the next entry, so the line has steps.
    const path = points
      .map(({ at, ndcg }, n) => (n === 0 ? `M${px(x(at))} ${px(y(ndcg))}` : `H${px(x(at))}V${px(y(ndcg))}`))
      .join("");
    const dots = points.map(({ at, ndcg, entry }) => {
      const fill = entry.action === "rollback" ? "var(--page)" : colour;
      const label = `${entry.id}, ${entry.action}, ${dayOf(at)}: ${ndcg.toFixed(4)}`;
      return `<circle cx="${px(x(at))}" cy="${px(y(ndcg))}" r="4" fill="${fill}" stroke="${colour}" stroke-width="2"><title>${escaped(label)}</title></circle>`;
    });
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      legend(name, index, colour),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + legendHeight(series.size)}" role="img" aria-labelledby="t" font-family="system-ui, sans-serif" font-size="12">`,
    '<title id="t">NDCG@20 of the live models over time</title>',
    "<style>svg{--page:#fff;--text:#1b1f24;--line:#c9ced6}@media(prefers-color-scheme:dark){svg{--page:#14171b;--text:#e7eaee;--line:#3a424c}}text{fill:var(--text)}</style>",
    `<rect width="100%" height="100%" fill="var(--page)"/>`,
    `<text x="${pad.left}" y="24" font-size="14">NDCG@20 of the live models over time</text>`,
    ...marks.flatMap((mark) => [
      `<line x1="${pad.left}" x2="${width - pad.right}" y1="${px(y(mark))}" y2="${px(y(mark))}" stroke="var(--line)"/>`,
      `<text x="${pad.left - 8}" y="${px(y(mark) + 4)}" text-anchor="end">${mark.toFixed(2)}</text>`,
    ]),
    ...(last === first
      ? [
          `<text x="${px(x(first))}" y="${height - pad.bottom + 20}" text-anchor="middle">${dayOf(first)}</text>`,
        ]
      : [
          `<text x="${pad.left}" y="${height - pad.bottom + 20}">${dayOf(first)}</text>`,
          `<text x="${width - pad.right}" y="${height - pad.bottom + 20}" text-anchor="end">${dayOf(last)}</text>`,
        ]),
    ...lines.flat(),
    "</svg>\n",
  ].join("\n");
}

/** Groups the quality of all successful entries by stack and deployment. */
export function seriesOf(timeline: readonly TimelineEntry[]): ReadonlyMap<string, readonly Point[]> {
  const series = new Map<string, Point[]>();
  for (const entry of timeline) {
    if (entry.status !== "done") continue;
    const at = Date.parse(entry.endedAt ?? entry.beganAt);
    for (const { deployment, quality } of entry.deployed) {
      const ndcg = quality?.ndcgAt20;
      if (ndcg == null) continue;
      const name = `${entry.stack}: ${deployment}`;
      series.set(name, [...(series.get(name) ?? []), { at, ndcg, entry }]);
    }
  }
  return series;
}

/** Returns the marks of the axis: at most ten steps from 0 to at least the maximum, and at most 1. */
export function marksUpTo(most: number): number[] {
  const step = [0.01, 0.02, 0.05, 0.1].find((one) => most / one <= 8) ?? 0.2;
  const count = Math.max(1, Math.ceil(most / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}

function legend(name: string, index: number, colour: string): string {
  const perRow = Math.floor((width - pad.left) / legendWidth);
  const left = pad.left + (index % perRow) * legendWidth;
  const bottom = height - 14 + 18 * Math.floor(index / perRow);
  const text = name.length > 24 ? `${name.slice(0, 23)}…` : name;
  return (
    `<rect x="${left}" y="${bottom - 9}" width="10" height="10" fill="${colour}"/>` +
    `<text x="${left + 16}" y="${bottom}">${escaped(text)}</text>`
  );
}

/** Returns the height of the rows of the legend after the first. */
function legendHeight(count: number): number {
  return 18 * Math.floor((count - 1) / Math.floor((width - pad.left) / legendWidth));
}

function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(controlCharacters, " ").replace(/[&<>"]/g, (one) => entities[one] as string);
}
