import { type Report, reportVersion, type StackReport } from "../drift/finding";
import { folded, inline, markerOf, renderMarkdown } from "../drift/render/markdown";
import { renderSarif } from "../drift/render/sarif";
import { renderText } from "../drift/render/text";
import { qualityDiagrams } from "../release/quality-diagram";
import { wrapText } from "../terminal/layout";
import { formatCount, formatDuration } from "../terminal/output";
import { qualityText } from "../terminal/quality";
import type { ModelReview, Review } from "./review";

/** Maximum number of models in a comment, which has a maximum length. */
const shownModels = 25;

/** Renderers of reviews, by format. */
export const reviewRenderers = {
  text: reviewText,
  markdown: reviewMarkdown,
  json: (review: Review) => `${JSON.stringify(review, null, 2)}\n`,
  sarif: (review: Review) => renderSarif(asReport(review.report)),
} as const;

/** Format of a review. */
export type ReviewFormat = keyof typeof reviewRenderers;

/** Wraps the report of a stack for the renderers of `recommender drift`. */
function asReport(report: StackReport): Report {
  const verdict = report.changes.length + report.drift.length > 0 ? "found" : "clean";
  return { version: reportVersion, verdict, comparedAt: new Date().toISOString(), stacks: [report] };
}

function reviewText(review: Review): string {
  const lines = review.models.map((model) => {
    const quality = model.quality && qualityText(model.quality);
    return wrapText(`${plainRow(model)}${quality ? `; NDCG@20 ${quality}` : ""}`, "- ", "  ");
  });
  const models = lines.length > 0 ? `\nModels\n${lines.join("\n")}\n${trainingsText(review)}` : "";
  return `${renderText(asReport(review.report))}${models}`;
}

function plainRow(model: ModelReview): string {
  const live = model.liveIn.length > 0 ? ` (live in ${model.liveIn.join(", ")})` : "";
  return `${model.name}${live}: ${effectOf(model)}; last training: ${durationOf(model)}`;
}

function trainingsText({ models }: Review): string {
  const summary = trainings(models);
  return summary ? `\n${wrapText(summary)}\n` : "";
}

function reviewMarkdown(review: Review): string {
  const { report, models, releases } = review;
  const drift = renderMarkdown(asReport(report)).replace(markerOf(report), "").trimEnd();
  const rows = models.slice(0, shownModels).map((model) => {
    const live = model.liveIn.length > 0 ? `live in ${model.liveIn.map(inline).join(", ")}` : "not deployed";
    const quality = (model.quality && qualityText(model.quality)) ?? "unknown";
    return `| ${inline(model.name)} | ${live} | ${effectOf(model)} | ${durationOf(model)} | ${quality} |`;
  });
  const more = models.length - rows.length;
  const table = [
    "#### Models",
    "",
    "| model | now | this change | last training | NDCG@20 now |",
    "|---|---|---|---|---|",
    ...rows,
    ...(more > 0 ? ["", `…and ${formatCount(more, "more model")}.`] : []),
    ...(trainings(models) ? ["", trainings(models)] : []),
  ];
  // A single release needs no diagram, because its quality is in the table above.
  const diagrams = releases.length > 1 ? qualityDiagrams(releases) : undefined;
  const history = diagrams ? [folded("Quality over time", diagrams.trimEnd())] : [];
  const marker = markerOf(report, "review");
  return `${[drift, "", ...(models.length > 0 ? [...table, ""] : []), ...history, marker].join("\n")}\n`;
}

function effectOf({ trains, modelId }: ModelReview): string {
  if (!trains) return "unchanged";
  return modelId === undefined ? "is trained" : "is trained again";
}

function durationOf({ lastTrainingSeconds }: ModelReview): string {
  return lastTrainingSeconds === undefined ? "unknown" : formatDuration(lastTrainingSeconds);
}

/** Returns how many models the change trains, and how long that took the last time. */
function trainings(models: readonly ModelReview[]): string | undefined {
  const trained = models.filter(({ trains }) => trains);
  if (trained.length === 0) return undefined;
  const known = trained.flatMap(({ lastTrainingSeconds }) => lastTrainingSeconds ?? []);
  const total = known.reduce((sum, seconds) => sum + seconds, 0);
  const missing = trained.length - known.length;
  const times =
    known.length === 0
      ? "How long that takes is unknown."
      : `The last ${known.length === 1 ? "training" : `trainings of ${known.length}`} took ${formatDuration(total)} in total` +
        `${missing > 0 ? `; for ${missing}, the time is unknown` : ""}.`;
  return `This change trains ${formatCount(trained.length, "model")}. ${times}`;
}
