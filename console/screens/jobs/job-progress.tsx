import type { JobRow } from "../../../service/console/responses";
import { formatDecimal, formatPercent } from "../../format";
import { Meter } from "../../parts/basics";

const phases: Readonly<Record<string, string>> = {
  read: "Reading events",
  weights: "Searching weights of other event types",
  search: "Searching parameters",
  train: "Training",
  attributes: "Learning from attributes",
};

/** The progress of a running job, if it reports any. */
export function JobProgress({ job }: { job: JobRow }) {
  const { progress } = job;
  if (!progress || job.finishedTs !== null) return null;
  const { phase = "", fraction, ndcgAt20: best } = progress;
  const words = phases[phase] ?? phase;
  return (
    <div class="progress">
      {fraction !== undefined && (
        <Meter value={fraction} of={1} label={`${words}: ${formatPercent(fraction)}`} />
      )}
      <span class="muted">
        {words}
        {fraction !== undefined && `, ${formatPercent(fraction)}`}
        {best != null && `; best NDCG@20 so far ${formatDecimal(best)}`}
      </span>
    </div>
  );
}
