/** What the console's page gets from the service; the page imports these types and nothing else of it. */

import type { Origin } from "../../contract/origin";
import type { AttributeAnswer, DatasetShort, ProjectChoice } from "./dataset-answers";

export type * from "./dataset-answers";
export type { Origin };

/** Who looks, and where. */
export interface SessionAnswer {
  readonly name: string;
  readonly access: "read" | "write";
  readonly scopes: readonly string[];
  readonly service: {
    readonly version: string;
    readonly url: string;
    readonly place: string;
    readonly uptimeSec: number;
  };
  /** The newest projects. */
  readonly projects: readonly ProjectChoice[];
}

/** A page of a list, and the `page` to ask for to get the next. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

export interface QualityAnswer {
  readonly ndcgAt20: number | null;
  readonly recallAt20: number | null;
  readonly popularityNdcgAt20: number | null;
  readonly popularityRecallAt20: number | null;
  readonly heldOutPairs: number | null;
  readonly heldOutUsers: number | null;
  /** Which pairs were held out: the latest of each user, or some at random. */
  readonly holdOut?: string | null;
  readonly coverageAt20?: number | null;
  readonly coldItemsAt20?: number | null;
  readonly diversityAt20?: number | null;
  readonly shownPopularityAt20?: number | null;
  readonly chosenPopularity?: number | null;
}

/** A count that was not carried on beyond a limit. */
export interface Counted {
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
  /** The last event that its training saw. */
  readonly seenSeq: number | null;
  readonly quality: QualityAnswer | null;
  /** Null where the call that trained it did not tell. */
  readonly origin: Origin | null;
  readonly jobId: string | null;
  readonly trainingMs: number | null;
  readonly isServing: boolean;
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
  /** Where a training stands, as far as it says. */
  readonly progress: {
    readonly phase?: string;
    readonly fraction?: number;
    /** The best so far. */
    readonly ndcgAt20?: number | null;
  } | null;
  readonly message: string | null;
  readonly modelId: string | null;
  readonly quality: QualityAnswer | null;
  readonly origin: Origin | null;
}

export interface JobAnswer extends JobRow {
  readonly data: Readonly<Record<string, unknown>>;
  /** Null where the model was deleted, or there is none yet. */
  readonly modelName: string | null;
  readonly result: Readonly<Record<string, unknown>> | null;
  /** Why it was tried again, each time. */
  readonly retries: readonly { readonly ts: number; readonly reason: string }[];
  /** NDCG@20 of each trial of a training's search, in their order. */
  readonly trials: readonly number[];
  readonly requestId: string | null;
  readonly worker: string | null;
  /** How long the last jobs of this kind took, half of them longer. */
  readonly usualMs: number | null;
  readonly usualOf: number;
}

/** What two models recommend to the same users, as they were trained. */
export interface BesideAnswer {
  readonly users: readonly string[];
  /** For each model, and in it for each user. */
  readonly models: readonly (readonly { readonly isKnown: boolean; readonly itemIds: readonly string[] }[])[];
  /** What people know the items by. */
  readonly labels: Readonly<Record<string, string>>;
}

/** What a question may be about. */
export interface AskingAnswer {
  readonly models: readonly ModelRow[];
  /** Of the project's items. */
  readonly attributes: readonly AttributeAnswer[];
}

/** The answer to a question, without the names of most users. */
export interface ResultAnswer {
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

/** What a deployment has answered lately, in the process that was asked. */
export interface RecentCalls {
  readonly minutes: readonly { readonly ts: number; readonly answered: number; readonly refused: number }[];
  readonly answered: number;
  readonly refused: number;
  readonly failed: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface DeploymentAnswer {
  readonly projectId: string;
  readonly projectName: string;
  readonly jobId: string;
  readonly deployedTs: number | null;
  readonly generator: ModelRow | null;
  readonly ranker: ModelRow | null;
  readonly qps: number;
  readonly isLoaded: boolean;
  readonly servingUri: string;
  /** Events that came after the serving model was trained; null where that is not known. */
  readonly eventsSince: Counted | null;
}

export interface ServingAnswer extends DeploymentAnswer {
  readonly recent: RecentCalls;
  /** What was deployed before, newest first. */
  readonly history: readonly JobRow[];
  /** By the ids of models that are still there. */
  readonly modelNames: Readonly<Record<string, string>>;
}

export interface OverviewProject extends ProjectChoice {
  readonly targetEventType: string;
  readonly createdTs: number;
  readonly datasets: readonly (
    | DatasetShort
    | { readonly id: string; readonly kind: string; readonly isDeleted: true }
  )[];
  readonly algorithms: readonly {
    readonly id: string;
    readonly name: string;
    readonly algorithmType: string;
    readonly algorithmParameters: Readonly<Record<string, unknown>>;
  }[];
  /** Algorithms that are not among these. */
  readonly otherAlgorithms: number;
  readonly models: number;
  readonly newest: ModelRow | null;
  readonly deployment: DeploymentAnswer | null;
  readonly isTraining: boolean;
  /** Whether a replacement or a deletion left it behind. */
  readonly isOrphaned: boolean;
}

/** Something that wants a decision, with the next step. */
export interface Attention {
  readonly level: "bad" | "warn" | "hint";
  readonly title: string;
  readonly text: string;
  /** Of a screen. */
  readonly href?: string;
  readonly command?: string;
}

export interface OverviewAnswer {
  /** The newest. */
  readonly projects: readonly OverviewProject[];
  /** Older ones. */
  readonly otherProjects: number;
  /** Orphaned projects, algorithms and datasets; they are in the lists only if that was asked for. */
  readonly orphans: number;
  readonly datasets: readonly DatasetShort[];
  readonly running: readonly JobRow[];
  readonly attention: readonly Attention[];
  readonly jobs: {
    readonly pending: number;
    readonly running: number;
    readonly succeed: number;
    readonly failed: number;
  };
}

/** What a user's own item adds to the score of a recommended one. */
export interface Reason {
  readonly itemId: string;
  readonly label: string | null;
  readonly adds: number;
  /** The part of it that comes from users who chose the same. */
  readonly neighbours: number;
}

export interface TriedItem {
  readonly itemId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly score: number;
  /** Largest first; with `rest` they sum to the score. */
  readonly reasons: readonly Reason[];
  /** What the items do not explain: for a user as he was trained, what the training holds beyond its last step. */
  readonly rest: number;
}

export interface OwnItem {
  readonly itemId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly weight: number;
  /** Whether it was added in the page. */
  readonly isAdded: boolean;
}

export interface TryAnswer {
  readonly userId: string | null;
  readonly isKnown: boolean;
  /** What the answer rests on. */
  readonly basis: "events" | "training" | "attributes" | "popularity";
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly own: readonly OwnItem[];
  readonly items: readonly TriedItem[];
  readonly ms: number;
  /** The model whose scores are shown. */
  readonly modelId: string;
  /** The model that put the items in another order than that of the scores. */
  readonly rankedBy: string | null;
  /** The attribute that people know items by, where there is one. */
  readonly labelledBy: string | null;
  /** Where a user would be stored. */
  readonly userDatasetId: string;
}

export interface Suggestion {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A line of the streamed answer. */
export interface LiveLine {
  readonly jobs: readonly JobRow[];
  readonly counts: OverviewAnswer["jobs"];
  /** Changes whenever datasets, projects, algorithms, models or deployments come or go. */
  readonly version: string;
}
