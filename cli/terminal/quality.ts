import { isUncertain } from "../../contract";
import { formatCount } from "./output";

/** What a training measured, as far as it is known. */
export interface QualityFigures {
  readonly ndcgAt20?: number | null | undefined;
  readonly popularityNdcgAt20?: number | null | undefined;
  readonly heldOutPairs?: number | null | undefined;
  readonly holdOut?: string | null | undefined;
}

/** How good a model is, with what it takes to judge the figure. */
export function qualityText(measured: QualityFigures): string | undefined {
  if (measured.ndcgAt20 == null) return undefined;
  const basis = baselineText(measured);
  return `${measured.ndcgAt20.toFixed(4)}${basis ? ` (${basis})` : ""}`;
}

/** What a model shows of the catalogue, as far as it is known. */
export interface ExposureFigures {
  readonly coverageAt20?: number | null | undefined;
  readonly coldItemsAt20?: number | null | undefined;
  readonly diversityAt20?: number | null | undefined;
  readonly shownPopularityAt20?: number | null | undefined;
  readonly chosenPopularity?: number | null | undefined;
}

/** The lines about what a model shows. */
export function exposureProperties(of: ExposureFigures): [string, string | undefined][] {
  const percent = (share: number | null | undefined) =>
    share == null ? undefined : `${(100 * share).toFixed(1)} %`;
  const chosen = of.chosenPopularity == null ? "" : ` (chosen items ${of.chosenPopularity.toFixed(2)})`;
  return [
    ["coverage@20", percent(of.coverageAt20)],
    ["cold items@20", percent(of.coldItemsAt20)],
    ["diversity@20", of.diversityAt20?.toFixed(2)],
    [
      "popularity@20",
      of.shownPopularityAt20 == null ? undefined : `${of.shownPopularityAt20.toFixed(2)}${chosen}`,
    ],
  ];
}

/** What a figure is to be judged by: what popular items reach, and of how many pairs both are. */
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
