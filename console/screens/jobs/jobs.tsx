import { useSignal } from "@preact/signals";
import type { JobAnswer, JobRow } from "../../../service/console/answers";
import { exact, lasting, measure, titled } from "../../format";
import { latest } from "../../live";
import { AsCode, ofService, serviceUrl } from "../../parts/as-code";
import { Block, Card, Figure, More, Name, OriginFigure, State, states, Time } from "../../parts/basics";
import { command, curl, invoked } from "../../parts/code";
import { Empty, Load, useLoad, usePages } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { place, to } from "../../router";
import { view } from "../../session";
import { JobProgress } from "./job-progress";
import { JobTable, kindOf } from "./job-table";
import { Trials } from "./trials";

/** Jobs as they run, newest first. */
export function Screen() {
  const [id] = place.value.rest;
  return id ? <OneJob key={id} id={id} /> : <AllJobs />;
}

const types = {
  TRAINING: "Training",
  DEPLOYMENT: "Deployment",
  "QUERYING,CLUSTERING": "Question",
};

function AllJobs() {
  const [type, status, search] = [useSignal(""), useSignal(""), useSignal("")];
  const filter = { type: type.value, status: status.value, search: search.value };
  const jobs = usePages<JobRow>("jobs", filter, Object.values(filter));
  const [newest] = jobs.first.loaded.value?.rows ?? [];
  return (
    <>
      <ScreenHead
        title="Jobs"
        lead="Trainings, deployments and questions, newest first. The list follows the service."
      />
      <Card>
        <div class="filters">
          <input
            type="search"
            aria-label="Search by name or id"
            placeholder="Search by name or id"
            value={search.value}
            onInput={(event) => (search.value = event.currentTarget.value)}
          />
          <select
            aria-label="Kind"
            value={type.value}
            onChange={(event) => (type.value = event.currentTarget.value)}
          >
            <option value="">Every kind</option>
            {Object.entries(types).map(([one, words]) => (
              <option key={one} value={one}>
                {words}
              </option>
            ))}
          </select>
          <select
            aria-label="State"
            value={status.value}
            onChange={(event) => (status.value = event.currentTarget.value)}
          >
            <option value="">Every state</option>
            {Object.entries(states).map(([one, word]) => (
              <option key={one} value={one}>
                {titled(word)}
              </option>
            ))}
          </select>
        </div>
        <Load of={jobs.first} lines={8}>
          {(page) => {
            const rows = fresh([...page.rows, ...jobs.older], filter);
            return rows.length === 0 ? (
              <Empty title={Object.values(filter).some(Boolean) ? "No job fits" : "No job yet"}>
                <p>A Model, a Deployment or a question of a program becomes a job here.</p>
              </Empty>
            ) : (
              <>
                <JobTable rows={rows} />
                <More next={jobs.next} onMore={jobs.more} />
              </>
            );
          }}
        </Load>
      </Card>
      {newest && (
        <JobCode job={newest} words="The API has no list of jobs: this reads the newest of these." />
      )}
    </>
  );
}

/** The rows with what the service has said since, and those that have come. */
function fresh(
  rows: readonly JobRow[],
  { type, status, search }: { type: string; status: string; search: string },
): JobRow[] {
  const now = latest.value?.jobs ?? [];
  const fits = (job: JobRow) =>
    (!type || type.split(",").includes(job.type)) &&
    (!status || job.status === status) &&
    (!search || job.name.includes(search));
  const newest = rows[0]?.number ?? 0;
  const come = now.filter((job) => job.number > newest && fits(job));
  const byId = new Map(now.map((job) => [job.id, job]));
  return [...come, ...rows.map((job) => byId.get(job.id) ?? job)];
}

function OneJob({ id }: { id: string }) {
  const now = latest.value?.jobs.find((job) => job.id === id);
  const job = useLoad<JobAnswer>(
    (signal) => view("job", { id }, signal),
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
                  {kindOf(one.type)} in <Name>{one.projectName}</Name> · <a href={to("jobs")}>all jobs</a>
                </>
              }
            >
              <State of={one.status} />
            </ScreenHead>
            <div class="stack">
              {one.status === "FAILED" && (
                <div class="note bad">
                  <strong>Why it failed</strong>
                  <p>
                    <bdi>{one.message?.slice(0, 2000) ?? "No reason was given."}</bdi>
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
                    name={one.finishedTs === null ? "So far" : "Took"}
                    hint={one.finishedTs === null ? "" : exact(one.finishedTs)}
                  >
                    {lasting((one.finishedTs ?? Math.max(Date.now(), one.createdTs)) - one.createdTs)}
                  </Figure>
                  <Figure name="Usually takes" hint={`Half of the last ${read.usualOf} took longer`}>
                    {read.usualMs === null ? <small>not known yet</small> : lasting(read.usualMs)}
                  </Figure>
                  <Figure name="Retries">{one.retryCount}</Figure>
                  {one.quality && (
                    <Figure name="NDCG@20">
                      {measure(one.quality.ndcgAt20)}{" "}
                      <small>popular items {measure(one.quality.popularityNdcgAt20)}</small>
                    </Figure>
                  )}
                  <OriginFigure name="Submitted by stack" of={one.origin} />
                  {one.modelId && (
                    <Figure name="Model">
                      <a href={to("models", [one.modelId])}>
                        <Name>{read.modelName ?? one.modelId}</Name>
                      </a>
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

function Retries({ of }: { of: JobAnswer["retries"] }) {
  return (
    <Card title="Retries" aside="what each of them came after">
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
        <p class="muted">There is none yet.</p>
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
        ...invoked("job", "getJob", of),
        CLI: command("jobs get", { ...ofService(job.projectId), project: job.projectId }, job.id),
        curl: curl(serviceUrl(), `/get-job?${query}`),
      }}
    />
  );
}
