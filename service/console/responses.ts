/** Types of the data that the service sends to the console's page. The page imports nothing else from the service. */

import type { Origin } from "../../contract/origin";
import type { AttributeSummary, DatasetSummary, ProjectChoice } from "./dataset-responses";

export type * from "./dataset-responses";
export type { Origin };

/** The current session and its service. */
export interface SessionResponse {
  readonly name: string;
  readonly access: "read" | "write";
  readonly scopes: readonly string[];
  readonly service: {
    readonly url: string;
    readonly place: string;
  };
  /** The newest projects. */
  readonly projects: readonly ProjectChoice[];
}

/** A page of a list. `next` is the `page` parameter of the next request, or null at the end. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

export interface ModelQuality {
  readonly ndcgAt20: number | null;
  readonly recallAt20: number | null;
  readonly popularityNdcgAt20: number | null;
  readonly popularityRecallAt20: number | null;
  readonly heldOutPairs: number | null;
  readonly heldOutUsers: number | null;
  /** How the held-out pairs were chosen: the latest of each user, or at random. */
  readonly holdOut?: string | null;
  readonly coverageAt20?: number | null;
  readonly coldItemsAt20?: number | null;
  readonly diversityAt20?: number | null;
  readonly shownPopularityAt20?: number | null;
  readonly chosenPopularity?: number | null;
}

/** A count that stops at a limit. `isMore` is true if the limit was reached. */
export interface CappedCount {
  readonly count: number;
  readonly isMore: boolean;
}

export interface ModelRow {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly algorithmType: string;
  readonly algorithmParameters: Readonly<Record<string, unknown>>;
  readonly chosenParameters: Readonly<Record<string, unknown>> | null;
  readonly createdTs: number;
  /** Sequence number of the last event that the training used. */
  readonly seenSeq: number | null;
  readonly quality: ModelQuality | null;
  /** Null if the call that submitted the training did not name its origin. */
  readonly origin: Origin | null;
  readonly jobId: string | null;
  readonly trainingMs: number | null;
  readonly isLive: boolean;
}

export interface JobRow {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly projectName: string;
  readonly type: string;
  readonly name: string;
  readonly status: string;
  readonly createdTs: number;
  readonly finishedTs: number | null;
  readonly retryCount: number;
  /** Progress of a running training, if it reports any. */
  readonly progress: {
    readonly phase?: string;
    readonly fraction?: number;
    /** The best value so far. */
    readonly ndcgAt20?: number | null;
  } | null;
  readonly message: string | null;
  readonly modelId: string | null;
  readonly quality: ModelQuality | null;
  readonly origin: Origin | null;
}

export interface JobResponse extends JobRow {
  readonly data: Readonly<Record<string, unknown>>;
  /** Null if the model was deleted or does not exist yet. */
  readonly modelName: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  /** The time and the reason of each retry. */
  readonly retries: readonly { readonly ts: number; readonly reason: string }[];
  /** NDCG@20 of each trial of the parameter search, in order. */
  readonly trials: readonly number[];
  /** Median duration of the last jobs of this type, or null if there are none. */
  readonly medianMs: number | null;
  /** How many jobs the median is based on. */
  readonly medianOf: number;
}

/** The recommendations of two models for the same users, as of their training. */
export interface ComparisonResponse {
  readonly users: readonly string[];
  /** One list for each model, with one entry for each user. */
  readonly models: readonly (readonly { readonly isKnown: boolean; readonly itemIds: readonly string[] }[])[];
  /** Titles or names of the items, by id. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The possible subjects of a question. */
export interface AskingResponse {
  readonly models: readonly ModelRow[];
  /** Attributes of the project's items. */
  readonly attributes: readonly AttributeSummary[];
}

/** The answer to a question. Lists of users are cut at 100. */
export interface ResultResponse {
  readonly distributions: readonly {
    readonly attribute: string;
    readonly value: unknown;
    readonly itemCount: number;
    readonly bins: readonly { readonly from: number; readonly to: number; readonly users: number }[];
  }[];
  readonly lists: readonly {
    readonly conditions: readonly Readonly<Record<string, unknown>>[];
    readonly userCount: number;
    readonly userIds: readonly string[];
  }[];
  readonly groups: readonly {
    readonly size: number;
    readonly userIds: readonly string[];
    readonly markers: readonly {
      readonly attribute: string;
      readonly value: string;
      readonly share: number;
      readonly overallShare: number;
    }[];
  }[];
}

/** Traffic of a deployment in the last hour, in the process that responds. */
export interface RecentCalls {
  readonly minutes: readonly { readonly ts: number; readonly answered: number; readonly refused: number }[];
  readonly answered: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface DeploymentSummary {
  readonly projectId: string;
  readonly projectName: string;
  readonly jobId: string;
  readonly deployedTs: number | null;
  readonly generator: ModelRow | null;
  readonly ranker: ModelRow | null;
  readonly qps: number;
  readonly isLoaded: boolean;
  readonly servingUri: string;
  /** Events that arrived after the live model was trained, or null if unknown. */
  readonly eventsSince: CappedCount | null;
}

export interface ServingResponse extends DeploymentSummary {
  readonly recent: RecentCalls;
  /** Deployment jobs, newest first. */
  readonly history: readonly JobRow[];
  /** Names of the models that still exist, by id. */
  readonly modelNames: Readonly<Record<string, string>>;
}

export interface OverviewProject extends ProjectChoice {
  readonly targetEventType: string;
  readonly createdTs: number;
  readonly datasets: readonly (
    | DatasetSummary
    | { readonly id: string; readonly kind: string; readonly isDeleted: true }
  )[];
  readonly algorithms: readonly {
    readonly id: string;
    readonly name: string;
    readonly algorithmType: string;
    readonly algorithmParameters: Readonly<Record<string, unknown>>;
  }[];
  /** How many more algorithms the project has. */
  readonly otherAlgorithms: number;
  readonly models: number;
  readonly newest: ModelRow | null;
  readonly deployment: DeploymentSummary | null;
  readonly isTraining: boolean;
  /** Whether a replacement or a deletion left the project behind. */
  readonly isOrphaned: boolean;
}

/** A problem that needs attention, with the next step. */
export interface Attention {
  readonly level: "bad" | "warn" | "hint";
  readonly title: string;
  readonly text: string;
  /** Link to a screen. */
  readonly href?: string;
}

export interface OverviewResponse {
  /** The newest projects. */
  readonly projects: readonly OverviewProject[];
  /** How many older projects exist. */
  readonly otherProjects: number;
  /** Number of orphaned projects, algorithms and datasets. The lists contain them only on request. */
  readonly orphans: number;
  readonly datasets: readonly DatasetSummary[];
  readonly running: readonly JobRow[];
  readonly attention: readonly Attention[];
  readonly jobs: {
    readonly pending: number;
    readonly running: number;
    readonly succeed: number;
    readonly failed: number;
  };
}

/** The contribution of one of the user's items to the score of a recommended item. */
export interface Reason {
  readonly itemId: string;
  readonly label: string | null;
  readonly adds: number;
  /** The part of `adds` that comes from users with the same choices. */
  readonly neighbours: number;
}

export interface TriedItem {
  readonly itemId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly score: number;
  /** Largest first. With `rest` they sum to the score. */
  readonly reasons: readonly Reason[];
  /** The part of the score that the reasons do not explain, such as the rest of a trained user vector. */
  readonly rest: number;
}

export interface OwnItem {
  readonly itemId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly weight: number;
  /** Whether the item was added on the page. */
  readonly isAdded: boolean;
}

export interface TryResponse {
  readonly userId: string | null;
  readonly isKnown: boolean;
  /** The data that the recommendations are based on. */
  readonly basis: "events" | "training" | "attributes" | "popularity";
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly own: readonly OwnItem[];
  readonly items: readonly TriedItem[];
  readonly ms: number;
  /** The model that computed the scores. */
  readonly modelId: string;
  /** The ranker that ordered the items, or null if they are ordered by score. */
  readonly rankedBy: string | null;
  /** The attribute that holds the title or name of items, or null if there is none. */
  readonly labelledBy: string | null;
  /** The dataset that stores the users of the project. */
  readonly userDatasetId: string;
}

export interface Suggestion {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A line of the live updates. */
export interface LiveLine {
  readonly jobs: readonly JobRow[];
  readonly counts: OverviewResponse["jobs"];
  /** Changes when datasets, projects, algorithms, models or deployments are created or deleted. */
  readonly version: string;
}
