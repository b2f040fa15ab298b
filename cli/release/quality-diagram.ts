import { inline } from "../drift/render/markdown";
import { marksUpTo, seriesOf } from "./quality-chart";
import type { TimelineEntry } from "./timeline";

/** Maximum number of points in a diagram. More labels would overlap. */
const maxPoints = 12;

/** Maximum number of diagrams, because comments have a maximum length. */
const maxDiagrams = 12;

/** Colour of the line. The default colour is hard to see on white. This colour can also be seen on black. */
const theme = '%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f7fd6"}}}}%%';

/**
 * Draws the NDCG@20 of the live models over time as Markdown, with one Mermaid diagram per stack and deployment. GitHub
 * and GitLab render it in comments, which cannot contain an image without hosting it. Undefined if no quality is known.
 */
export function qualityDiagrams(timeline: readonly TimelineEntry[]): string | undefined {
  const series = [...seriesOf(timeline)];
  if (series.length === 0) return undefined;
  const diagrams = series.slice(0, maxDiagrams).map(([name, points]) => {
    const shown = points.slice(-maxPoints);
    const top = marksUpTo(Math.max(...shown.map(({ ndcg }) => ndcg))).at(-1) as number;
    return [
      `NDCG@20 of ${inline(name)}`,
      "",
      "```mermaid",
      theme,
      "xychart-beta",
      `  x-axis [${shown.map(({ entry }) => quoted(entry.id)).join(", ")}]`,
      `  y-axis "NDCG@20" 0 --> ${top.toFixed(2)}`,
      `  line [${shown.map(({ ndcg }) => ndcg.toFixed(4)).join(", ")}]`,
      "```",
      "",
    ].join("\n");
  });
  const more = series.length - diagrams.length;
  return [...diagrams, ...(more > 0 ? [`…and ${more} more deployments.`, ""] : [])].join("\n");
}

/** Quotes a label. Mermaid has no escapes for quotes, and other marks could end the diagram. */
function quoted(text: string): string {
  return `"${text.replace(/[^\p{L}\p{N} ._-]/gu, "_")}"`;
}
