import type { z } from "zod";
import { isUncertain, type quality } from "../../contract";
import { formatCount } from "./output";

/** Quality of a model, as far as it is known. */
export type QualityFigures = Partial<z.output<typeof quality>>;

/** Formats the quality of a model with its baseline, such as `0.4120 (popular items 0.3800, 240 pairs held out)`. */
export function qualityText(measured: QualityFigures): string | undefined {
  if (measured.ndcgAt20 == null) return undefined;
  const basis = baselineText(measured);
  return `${measured.ndcgAt20.toFixed(4)}${basis ? ` (${basis})` : ""}`;
}

/** Formats metrics of the recommended items: coverage, cold items, diversity and popularity. */
export function exposureProperties(figures: QualityFigures): [string, string | undefined][] {
  const percent = (share: number | null | undefined) =>
    share == null ? undefined : `${(100 * share).toFixed(1)} %`;
  const chosen =
    figures.chosenPopularity == null ? "" : ` (chosen items ${figures.chosenPopularity.toFixed(2)})`;
  return [
    ["coverage@20", percent(figures.coverageAt20)],
    ["cold items@20", percent(figures.coldItemsAt20)],
    ["diversity@20", figures.diversityAt20?.toFixed(2)],
    [
      "popularity@20",
      figures.shownPopularityAt20 == null ? undefined : `${figures.shownPopularityAt20.toFixed(2)}${chosen}`,
    ],
  ];
}

/** Formats what to compare a model's quality with: the NDCG@20 of popular items, and the number of held-out pairs. */
export function baselineText({ popularityNdcgAt20, heldOutPairs, holdOut }: QualityFigures): string {
  return [
    ...(popularityNdcgAt20 == null ? [] : [`popular items ${popularityNdcgAt20.toFixed(4)}`]),
    ...(heldOutPairs == null
      ? []
      : [
          `${formatCount(heldOutPairs, holdOut === "latest" ? "latest pair" : "pair")} held out${isUncertain(heldOutPairs) ? ": uncertain" : ""}`,
        ]),
  ].join(", ");
}
