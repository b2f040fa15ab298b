import { extname } from "node:path";
import { type Report, reportSchema } from "../finding";
import { renderHtml } from "./html";
import { renderMarkdown } from "./markdown";
import { renderSarif } from "./sarif";
import { renderText } from "./text";

/** Renderers of reports, by format. */
export const renderers = {
  text: renderText,
  markdown: renderMarkdown,
  json: (report: Report) => `${JSON.stringify(reportSchema.parse(report), null, 2)}\n`,
  sarif: renderSarif,
  html: renderHtml,
} as const;

/** Format of a report. */
export type Format = keyof typeof renderers;

const suffixes: Readonly<Record<string, Format>> = {
  ".txt": "text",
  ".md": "markdown",
  ".json": "json",
  ".sarif": "sarif",
  ".html": "html",
};

/** Returns the format of a file by its extension. */
export function formatOf(file: string): Format {
  const format = suffixes[extname(file).toLowerCase()];
  if (format) return format;
  throw new Error(
    `--output ${file}: unknown extension. Use ${Object.keys(suffixes).join(", ")}, or add --format.`,
  );
}
