import { isUncertain } from "../../contract";
import { counted } from "./output";

/** What a training measured, as far as it is known. */
export interface Measured {
  readonly ndcgAt20?: number | null | undefined;
  readonly popularityNdcgAt20?: number | null | undefined;
  readonly heldOutPairs?: number | null | undefined;
  readonly holdOut?: string | null | undefined;
}

/** How good a model is, with what it takes to judge the figure. */
export function qualityText(measured: Measured): string | undefined {
  if (measured.ndcgAt20 == null) return undefined;
  const basis = basisText(measured);
  return `${measured.ndcgAt20.toFixed(4)}${basis ? ` (${basis})` : ""}`;
}

/** What a model shows of the catalogue, as far as it is known. */
export interface Exposed {
  readonly coverageAt20?: number | null | undefined;
  readonly coldItemsAt20?: number | null | undefined;
  readonly diversityAt20?: number | null | undefined;
  readonly shownPopularityAt20?: number | null | undefined;
  readonly chosenPopularity?: number | null | undefined;
}

/** The lines about what a model shows. */
export function exposureLines(of: Exposed): [string, string | undefined][] {
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
export function basisText({ popularityNdcgAt20, heldOutPairs, holdOut }: Measured): string {
  return [
    ...(popularityNdcgAt20 == null ? [] : [`popular items ${popularityNdcgAt20.toFixed(4)}`]),
    ...(heldOutPairs == null
      ? []
      : [
          `${counted(heldOutPairs, holdOut === "latest" ? "latest pair" : "pair")} held out${isUncertain(heldOutPairs) ? ": uncertain" : ""}`,
        ]),
  ].join(", ");
}
