import { extname } from "node:path";
import { type Report, reportSchema } from "../finding";
import { renderHtml } from "./html";
import { renderMarkdown } from "./markdown";
import { renderSarif } from "./sarif";
import { renderText } from "./text";

/** The forms in which a report can be had. */
export const renderers = {
  text: renderText,
  markdown: renderMarkdown,
  json: (report: Report) => `${JSON.stringify(reportSchema.parse(report), null, 2)}\n`,
  sarif: renderSarif,
  html: renderHtml,
} as const;

/** A form of a report. */
export type Format = keyof typeof renderers;

const suffixes: Readonly<Record<string, Format>> = {
  ".txt": "text",
  ".md": "markdown",
  ".json": "json",
  ".sarif": "sarif",
  ".html": "html",
};

/** The form that the end of a file's name stands for. */
export function formatOf(file: string): Format {
  const format = suffixes[extname(file).toLowerCase()];
  if (format) return format;
  throw new Error(
    `--output ${file}: its extension names no format; end it with ${Object.keys(suffixes).join(", ")}, or add --format.`,
  );
}
