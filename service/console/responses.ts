/** Types of the data that the service sends to the console's page. The page imports nothing else from the service. */

import type { sessionResponse } from ".";
import type { compareModels } from "./compare";
import type { attributesOf, datasetResponse } from "./datasets/dataset";
import type { summarizeEvents } from "./datasets/events";
import type { recordResponse } from "./datasets/records";
import type { jobResponse, liveLine } from "./jobs";
import type { overview } from "./overview/overview";
import type { askingResponse, resultResponse } from "./questions";
import type { projectChoices } from "./rows";
import type { servingResponse } from "./serving";
import type { tryOut } from "./try";

export type { Origin } from "../../contract/origin";
export type { EventRow } from "./datasets/events";
export type { Attention } from "./overview/attention";
export type { OverviewProject } from "./overview/project";
export type { JobRow, ModelRow, Page } from "./rows";
export type { Suggestion } from "./try";

type Result<F extends (...given: never[]) => Promise<unknown>> = Awaited<ReturnType<F>>;

export type SessionResponse = Result<typeof sessionResponse>;
export type ProjectChoice = Result<typeof projectChoices>[number];
export type OverviewResponse = Result<typeof overview>;
export type LiveLine = Result<typeof liveLine>;
export type JobResponse = Result<typeof jobResponse>;
export type ServingResponse = Result<typeof servingResponse>;
export type ComparisonResponse = Result<typeof compareModels>;
export type AskingResponse = Result<typeof askingResponse>;
export type ResultResponse = Result<typeof resultResponse>;
export type TryResponse = Result<typeof tryOut>;
export type TriedItem = TryResponse["items"][number];
export type DatasetResponse = Result<typeof datasetResponse>;
export type AttributeSummary = Result<typeof attributesOf>["attributes"][number];
export type EventsSummary = Result<typeof summarizeEvents>;
export type Rejections = DatasetResponse["refusals"];
export type RecordResponse = Result<typeof recordResponse>;
