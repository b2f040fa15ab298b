import type { JobRow } from "../../../service/console/responses";
import { capitalize, displayValue, formatDuration } from "../../format";
import { IdAndRelease, Name, State, Time } from "../../parts/basics";
import { Table } from "../../parts/table";
import { hrefTo } from "../../router";
import { JobProgress } from "./job-progress";

/** Job types with a special display name. */
const kinds: Readonly<Record<string, string>> = { QUERYING: "Question", CLUSTERING: "Question" };
export const kindOf = (type: string): string => kinds[type] ?? capitalize(type);

/** A table of jobs with their state and progress. */
export function JobTable({ rows, screen = "jobs" }: { rows: readonly JobRow[]; screen?: string }) {
  return (
    <Table
      class="stacked"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        [
          "Job",
          (job) => (
            <>
              <Name href={hrefTo(screen, [job.id])}>{job.name}</Name>{" "}
              <span class="muted">
                {kindOf(job.type)}
                {job.retryCount > 0 && `, ${job.retryCount === 1 ? "1 retry" : `${job.retryCount} retries`}`}
              </span>
              <IdAndRelease {...job} />
              <JobProgress job={job} />
              {job.status === "FAILED" && <p class="attributes">{displayValue(job.message)}</p>}
            </>
          ),
        ],
        ["State", ({ status }) => <State of={status} />],
        ["Submitted", ({ createdTs }) => <Time ts={createdTs} />, undefined, "submitted"],
        [
          "Duration",
          ({ finishedTs, createdTs }) => (finishedTs === null ? "" : formatDuration(finishedTs - createdTs)),
          "num",
          "duration",
        ],
      ]}
    />
  );
}
