import type { JobRow } from "../../../service/console/answers";
import { lasting, shown, titled } from "../../format";
import { Apart, Name, State, Time } from "../../parts/basics";
import { to } from "../../router";
import { JobProgress } from "./job-progress";

/** What a job does, in a word. */
const kinds: Readonly<Record<string, string>> = { QUERYING: "Question", CLUSTERING: "Question" };
export const kindOf = (type: string): string => kinds[type] ?? titled(type);

/** Jobs, each with where it stands. */
export function JobTable({ rows, screen = "jobs" }: { rows: readonly JobRow[]; screen?: string }) {
  return (
    <div class="scroll">
      <table class="stacked">
        <thead>
          <tr>
            <th>Job</th>
            <th>State</th>
            <th>Submitted</th>
            <th class="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => (
            <tr key={job.id}>
              <td>
                <a href={to(screen, [job.id])}>
                  <Name>{job.name}</Name>
                </a>{" "}
                <span class="muted">
                  {kindOf(job.type)}
                  {job.retryCount > 0 && `, retried ${job.retryCount} ×`}
                </span>
                <Apart {...job} />
                <JobProgress job={job} />
                {job.status === "FAILED" && <p class="attributes">{shown(job.message)}</p>}
              </td>
              <td>
                <State of={job.status} />
              </td>
              <td data-name="submitted">
                <Time ts={job.createdTs} />
              </td>
              <td class="num" data-name="took">
                {job.finishedTs === null ? "" : lasting(job.finishedTs - job.createdTs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
