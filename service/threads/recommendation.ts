import type { Request, routes } from "../../contract";
import type { ModelSource } from "../files/models";
import type { Attempt } from "../files/storage/files";
import type { Chunk } from "../store/chunks";
import type { ProjectData } from "../store/project-data";

type Fields = Request<(typeof routes)["submitRecommendationJob"]>;

/** Recommendations to compute for many users. */
export interface RecommendationTask {
  readonly kind: "RECOMMENDATION";
  readonly projectId: string;
  readonly data: ProjectData;
  readonly generator: ModelSource;
  readonly ranker: ModelSource | null;
  /** Rules as JSON; null if there are none. */
  readonly rules: string | null;
  /** Whether other processes may write to the database. */
  readonly isShared: boolean;
  /** The only users; undefined for all users, or those that meet the conditions. */
  readonly userIds?: readonly string[] | undefined;
  readonly asked: Pick<
    Fields,
    "query" | "limit" | "attributes" | "filterQuery" | "excludeItemIds" | "includeItemIds"
  >;
  readonly job: Attempt;
  /** The chunks that earlier attempts have written. */
  readonly done: readonly Chunk[];
}

/** Chunks to combine into the file that is downloaded. */
export interface RecommendationFileTask {
  readonly kind: "RECOMMENDATION_FILE";
  readonly data: ProjectData;
  readonly asked: Pick<Fields, "attributes" | "format">;
  readonly job: Attempt;
  readonly chunks: readonly Chunk[];
}

/** A file that was written without the users who were forgotten before. */
export interface WrittenFile {
  readonly users: number;
  /** The event dataset's count of deletions up to which forgotten users were left out. */
  readonly deletions: number;
}
