import type { JobRow } from "../../../service/console/answers";
import { measure, percent } from "../../format";
import { Meter } from "../../parts/basics";

const phases: Readonly<Record<string, string>> = {
  read: "Reads the events",
  weights: "Searches for the weights of events of other types",
  search: "Searches for the best parameters",
  train: "Trains",
  attributes: "Learns from attributes",
};

/** Where a job stands, as far as it says. */
export function JobProgress({ job }: { job: JobRow }) {
  const { progress } = job;
  if (!progress || job.finishedTs !== null) return null;
  const { phase = "", fraction, ndcgAt20: best } = progress;
  const words = phases[phase] ?? phase;
  return (
    <div class="progress">
      {fraction !== undefined && <Meter value={fraction} of={1} label={`${words}: ${percent(fraction)}`} />}
      <span class="muted">
        {words}
        {fraction !== undefined && `, ${percent(fraction)}`}
        {best != null && `; best so far ${measure(best)} NDCG@20`}
      </span>
    </div>
  );
}
