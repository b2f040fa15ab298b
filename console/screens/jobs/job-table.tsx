import type { JobRow } from "../../../service/console/responses";
import { capitalize, displayValue, formatDuration } from "../../format";
import { IdAndRelease, Name, State, Time } from "../../parts/basics";
import { hrefTo } from "../../router";
import { JobProgress } from "./job-progress";

/** Job types with a display name of their own. */
const kinds: Readonly<Record<string, string>> = { QUERYING: "Question", CLUSTERING: "Question" };
export const kindOf = (type: string): string => kinds[type] ?? capitalize(type);

/** A table of jobs with their state and progress. */
export function JobTable({ rows, screen = "jobs" }: { rows: readonly JobRow[]; screen?: string }) {
  return (
    <div class="scroll">
      <table class="stacked">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th>Submitted</th>
            <th class="num">Duration</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => (
            <tr key={job.id}>
              <td>
                <Name href={hrefTo(screen, [job.id])}>{job.name}</Name>{" "}
                <span class="muted">
                  {kindOf(job.type)}
                  {job.retryCount > 0 &&
                    `, ${job.retryCount === 1 ? "1 retry" : `${job.retryCount} retries`}`}
                </span>
                <IdAndRelease {...job} />
                <JobProgress job={job} />
                {job.status === "FAILED" && <p class="attributes">{displayValue(job.message)}</p>}
              </td>
              <td>
                <State of={job.status} />
              </td>
              <td data-name="submitted">
                <Time ts={job.createdTs} />
              </td>
              <td class="num" data-name="duration">
                {job.finishedTs === null ? "" : formatDuration(job.finishedTs - job.createdTs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
