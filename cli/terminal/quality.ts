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
