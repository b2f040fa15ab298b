import { useSignal } from "@preact/signals";
import type { JobResponse, JobRow } from "../../../service/console/responses";
import { capitalize, formatDecimal, formatDuration, formatExactTime } from "../../format";
import { liveStatus } from "../../live";
import { AsCode, serviceOptions, serviceUrl } from "../../parts/as-code";
import {
  Block,
  Card,
  Figure,
  More,
  Name,
  Options,
  OriginFigure,
  SearchInput,
  State,
  states,
  Time,
} from "../../parts/basics";
import { command, curl, invocation } from "../../parts/code";
import { Empty, Load, useLoad, usePages } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { hrefTo, route } from "../../router";
import { fetchView } from "../../session";
import { JobProgress } from "./job-progress";
import { JobTable, kindOf } from "./job-table";
import { Trials } from "./trials";

/** The list of jobs, newest first, or one job. */
export function Screen() {
  const [id] = route.value.rest;
  return id ? <OneJob key={id} id={id} /> : <AllJobs />;
}

const types = {
  TRAINING: "Training",
  DEPLOYMENT: "Deployment",
  "QUERYING,CLUSTERING": "Question",
  RECOMMENDATION: "Recommendation",
};
const stateNames = Object.fromEntries(
  Object.entries(states).map(([state, name]) => [state, capitalize(name)]),
);

function AllJobs() {
  const [type, status, search] = [useSignal(""), useSignal(""), useSignal("")];
  const filter = { type: type.value, status: status.value, search: search.value };
  const jobs = usePages<JobRow>("jobs", filter, Object.values(filter));
  const [newest] = jobs.first.loaded.value?.rows ?? [];
  return (
    <>
      <ScreenHead
        title="Jobs"
        lead="Trainings, deployments, questions and recommendations, newest first. The list updates itself."
      />
      <Card>
        <div class="filters">
          <SearchInput label="Search by name or id" value={search} />
          <select
            aria-label="Type"
            value={type.value}
            onChange={(event) => (type.value = event.currentTarget.value)}
          >
            <option value="">All types</option>
            <Options of={types} />
          </select>
          <select
            aria-label="State"
            value={status.value}
            onChange={(event) => (status.value = event.currentTarget.value)}
          >
            <option value="">All states</option>
            <Options of={stateNames} />
          </select>
        </div>
        <Load of={jobs.first} lines={8}>
          {(page) => {
            const rows = withLiveUpdates([...page.rows, ...jobs.older], filter);
            return rows.length === 0 ? (
              <Empty title={Object.values(filter).some(Boolean) ? "No matching jobs" : "No jobs yet"}>
                <p>Each Model, Deployment and question of a program runs as a job.</p>
              </Empty>
            ) : (
              <>
                <JobTable rows={rows} />
                <More next={jobs.next} onMore={jobs.loadMore} />
              </>
            );
          }}
        </Load>
      </Card>
      {newest && (
        <JobCode job={newest} words="The API cannot list jobs. This reads the newest job of this list." />
      )}
    </>
  );
}

/** Updates the rows with the live status, and adds new jobs that match the filter. */
function withLiveUpdates(
  rows: readonly JobRow[],
  { type, status, search }: { type: string; status: string; search: string },
): JobRow[] {
  const now = liveStatus.value?.jobs ?? [];
  const matches = (job: JobRow) =>
    (!type || type.split(",").includes(job.type)) &&
    (!status || job.status === status) &&
    (!search || job.name.includes(search));
  const newest = rows[0]?.number ?? 0;
  const added = now.filter((job) => job.number > newest && matches(job));
  const byId = new Map(now.map((job) => [job.id, job]));
  return [...added, ...rows.map((job) => byId.get(job.id) ?? job)];
}

function OneJob({ id }: { id: string }) {
  const now = liveStatus.value?.jobs.find((job) => job.id === id);
  const job = useLoad<JobResponse>(
    (signal) => fetchView("job", { id }, signal),
    [id, now?.status, now?.retryCount, now?.progress?.phase, now?.progress?.fraction],
  );
  return (
    <Load of={job} lines={8}>
      {(read) => {
        const one = { ...read, ...now };
        return (
          <>
            <ScreenHead
              title={one.name.slice(0, 120)}
              lead={
                <>
                  {kindOf(one.type)} in <Name>{one.projectName}</Name> · <a href={hrefTo("jobs")}>all jobs</a>
                </>
              }
            >
              <State of={one.status} />
            </ScreenHead>
            <div class="stack">
              {one.status === "FAILED" && (
                <div class="note bad">
                  <strong>The job failed</strong>
                  <p>
                    <bdi>{one.message?.slice(0, 2000) ?? "The reason is not known."}</bdi>
                  </p>
                </div>
              )}
              <Card>
                <JobProgress job={one} />
                <dl class="figures">
                  <Figure name="Submitted">
                    <Time ts={one.createdTs} />
                  </Figure>
                  <Figure
                    name={one.finishedTs === null ? "Running for" : "Duration"}
                    hint={one.finishedTs === null ? "" : formatExactTime(one.finishedTs)}
                  >
                    {formatDuration((one.finishedTs ?? Math.max(Date.now(), one.createdTs)) - one.createdTs)}
                  </Figure>
                  <Figure
                    name="Usual duration"
                    hint={`Median of the last ${read.medianOf} jobs of this type`}
                  >
                    {read.medianMs === null ? <small>unknown</small> : formatDuration(read.medianMs)}
                  </Figure>
                  <Figure name="Retries">{one.retryCount}</Figure>
                  {one.quality && (
                    <Figure name="NDCG@20">
                      {formatDecimal(one.quality.ndcgAt20)}{" "}
                      <small>popular items {formatDecimal(one.quality.popularityNdcgAt20)}</small>
                    </Figure>
                  )}
                  <OriginFigure name="Submitted by stack" of={one.origin} />
                  {one.modelId && (
                    <Figure name="Model">
                      <Name href={hrefTo("models", [one.modelId])}>{read.modelName ?? one.modelId}</Name>
                    </Figure>
                  )}
                </dl>
              </Card>
              {read.trials.length > 0 && <Trials of={read} />}
              {read.retries.length > 0 && <Retries of={read.retries} />}
              <div class="columns">
                <Json title="Request" value={read.data} />
                <Json title="Result" value={read.result} />
              </div>
              <JobCode job={read} />
            </div>
          </>
        );
      }}
    </Load>
  );
}

function Retries({ of }: { of: JobResponse["retries"] }) {
  return (
    <Card title="Retries" aside="the error before each retry">
      <ol class="plain">
        {of.map(({ ts, reason }) => (
          <li key={ts}>
            <bdi>{reason.slice(0, 2000)}</bdi>{" "}
            <span class="muted">
              <Time ts={ts} />
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <Card title={title}>
      {value === null ? (
        <p class="muted">None yet.</p>
      ) : (
        <Block label={title} text={JSON.stringify(value, null, 2).slice(0, 20_000)} />
      )}
    </Card>
  );
}

function JobCode({ job, words = "" }: { job: JobRow; words?: string }) {
  const of = { projectId: job.projectId, jobId: job.id };
  const query = new URLSearchParams({ project_id: job.projectId, job_id: job.id });
  return (
    <AsCode
      projectId={job.projectId}
      notes={{ program: words, CLI: words, curl: words }}
      texts={{
        ...invocation("job", "getJob", of),
        CLI: command("jobs get", { ...serviceOptions(job.projectId), project: job.projectId }, job.id),
        curl: curl(serviceUrl(), `/get-job?${query}`),
      }}
    />
  );
}
