import type { Attention, JobRow, OverviewProject, OverviewResponse } from "../../service/console/responses";
import { capitalize, formatCompact, formatDecimal, formatNumber, plural } from "../format";
import { liveStatus } from "../live";
import { AsCode, serviceUrl, statusCommands } from "../parts/as-code";
import { Card, Meter, Name, Time } from "../parts/basics";
import { curl, type Declaration, declarations, quoted } from "../parts/code";
import { Empty, Load, useLoad } from "../parts/load";
import { OrphanSwitch, OrphanTag, orphanQuery } from "../parts/orphans";
import { ScreenHead } from "../parts/screen";
import { hrefTo, orphansShown, selectProject } from "../router";
import { fetchView } from "../session";
import { JobTable } from "./jobs/job-table";

/** All projects with their datasets, models and deployments, running jobs, and problems. */
export function Screen() {
  const { version, counts } = liveStatus.value ?? {};
  const overview = useLoad<OverviewResponse>(
    (signal) => fetchView("overview", orphanQuery(), signal),
    [version, counts?.failed, counts?.running, counts?.pending, orphansShown.value],
  );
  return (
    <>
      <ScreenHead title="Overview" lead="Projects, running jobs, and problems that need attention." />
      <Load of={overview}>
        {(all) => (
          <div class="stack">
            <AttentionList all={all.attention} hasProjects={all.projects.length > 0} />
            {all.running.length > 0 && <Running jobs={liveStatus.value?.jobs ?? all.running} />}
            {all.projects.length === 0 ? (
              <Card>
                <Empty title="No projects yet">
                  <p>
                    Declare datasets, a project and a model in a program, and run <code>pulumi up</code>. The
                    quick start has an example.
                  </p>
                </Empty>
              </Card>
            ) : (
              all.projects.map((project) => <ProjectStrip key={project.id} project={project} />)
            )}
            {all.otherProjects > 0 && (
              <p class="muted">Not shown: {plural(all.otherProjects, "older project")}.</p>
            )}
            <OrphanSwitch count={all.orphans} />
            <AsCode
              texts={{
                ...declarations(
                  all.projects.filter(({ isOrphaned }) => !isOrphaned).flatMap(projectDeclarations),
                  omissions(all),
                ),
                CLI: statusCommands(),
                curl: curl(serviceUrl(), "/list-event-datasets"),
              }}
              notes={{
                program: "Adopts the existing objects by their ids. It does not create or change anything.",
                CLI: "Lists the contents of the service.",
                curl: "Lists the event datasets.",
              }}
            />
          </div>
        )}
      </Load>
    </>
  );
}

function AttentionList({ all, hasProjects }: { all: readonly Attention[]; hasProjects: boolean }) {
  if (all.length === 0)
    return hasProjects ? (
      <p class="note">
        <strong>No problems.</strong> No job failed, no dataset is full, and live models are up to date.
      </p>
    ) : null;
  return (
    <section aria-label="Needs attention" class="stack">
      {all.map((one) => (
        <div key={one.title} class={`note ${one.level}`}>
          <strong>
            <bdi>{one.title.slice(0, 200)}</bdi>
          </strong>
          <p>
            <bdi>{one.text.slice(0, 600)}</bdi> {one.href && <a href={one.href}>Show</a>}
          </p>
        </div>
      ))}
    </section>
  );
}

function Running({ jobs }: { jobs: readonly JobRow[] }) {
  const unfinished = jobs.filter(({ finishedTs }) => finishedTs === null);
  if (unfinished.length === 0) return null;
  return (
    <Card title="Running jobs" aside={<a href={hrefTo("jobs")}>All jobs</a>}>
      <JobTable rows={unfinished} />
    </Card>
  );
}

function ProjectStrip({ project }: { project: OverviewProject }) {
  const { deployment, newest } = project;
  const quality = deployment?.generator?.quality ?? newest?.quality;
  return (
    <Card
      title={project.name.slice(0, 120)}
      aside={
        <>
          <OrphanTag of={project} /> created <Time ts={project.createdTs} />
        </>
      }
    >
      <ol class="strip">
        <li>
          <h3>Datasets</h3>
          {project.datasets.map((dataset) =>
            "isDeleted" in dataset ? (
              <p key={dataset.id} class="muted">
                {capitalize(dataset.kind)}s: deleted
              </p>
            ) : (
              <div key={dataset.id}>
                <div class="line">
                  <a href={hrefTo("datasets", [dataset.id])}>{capitalize(dataset.kind)}s</a>
                  <span
                    title={`${formatNumber(dataset.records)} of ${formatNumber(dataset.capacity)} records`}
                  >
                    {formatCompact(dataset.records)}
                  </span>
                </div>
                <Meter
                  value={dataset.records}
                  of={dataset.capacity}
                  label={`${formatNumber(dataset.records)} of ${formatNumber(dataset.capacity)} records`}
                  tone={dataset.records > dataset.capacity * 0.9 ? "warn" : ""}
                />
              </div>
            ),
          )}
        </li>
        <li>
          <h3>Project</h3>
          <p>
            optimized for <Name>{project.targetEventType}</Name>
          </p>
          <p class="muted">{plural(project.models, "model")}</p>
        </li>
        <li>
          <h3>Model</h3>
          {newest ? (
            <>
              <p>
                <Name href={hrefTo("models", [(deployment?.generator ?? newest).id])}>
                  {(deployment?.generator ?? newest).name}
                </Name>
              </p>
              <p title="On held-out items of test users; a perfect model scores 1">
                NDCG@20 <strong>{formatDecimal(quality?.ndcgAt20)}</strong>{" "}
                <span class="muted">popular items {formatDecimal(quality?.popularityNdcgAt20)}</span>
              </p>
              <p class="muted">
                trained <Time ts={(deployment?.generator ?? newest).createdTs} />
              </p>
            </>
          ) : (
            <p class="muted">{project.isTraining ? "First model in training" : "No model yet"}</p>
          )}
        </li>
        <li>
          <h3>Deployment</h3>
          {deployment ? (
            <>
              <p>
                <a href={hrefTo("serving")} onClick={() => selectProject(project.id)}>
                  {deployment.isLoaded ? "Live" : "Loading"}
                </a>
                , up to {plural(deployment.qps, "query")} per second
              </p>
              <p class="muted">
                deployed <Time ts={deployment.deployedTs} />
              </p>
              <p>
                {deployment.eventsSince
                  ? `${formatNumber(deployment.eventsSince.count)}${deployment.eventsSince.isMore ? " or more" : ""} events since it was trained`
                  : "Number of events since it was trained: unknown"}
              </p>
              <p>
                <a href={hrefTo("try")} onClick={() => selectProject(project.id)}>
                  Try it
                </a>
              </p>
            </>
          ) : (
            <p class="muted">Not deployed</p>
          )}
        </li>
      </ol>
    </Card>
  );
}

/** Returns remarks on the objects that the generated program leaves out. */
function omissions({ projects, otherProjects }: OverviewResponse): string[] {
  return [
    ...projects
      .filter(({ otherAlgorithms }) => otherAlgorithms > 0)
      .map(
        ({ name, otherAlgorithms }) =>
          `Left out: ${plural(otherAlgorithms, "more algorithm")} of ${quoted(name)}.`,
      ),
    ...(otherProjects > 0 ? [`Left out: ${plural(otherProjects, "older project")}.`] : []),
  ];
}

/**
 * Returns declarations of a project and its algorithms. Other screens show those of datasets, models and deployments.
 */
function projectDeclarations({
  id,
  name,
  datasets,
  targetEventType,
  algorithms,
}: OverviewProject): Declaration[] {
  const [userDatasetId, itemDatasetId, eventDatasetId] = datasets.map((dataset) => dataset.id);
  const fields = { existingId: id, userDatasetId, itemDatasetId, eventDatasetId, targetEventType };
  return [
    { type: "Project", name, fields },
    ...algorithms.map(({ id: existingId, name, algorithmType, algorithmParameters }) => ({
      type: "Algorithm",
      name,
      fields: { existingId, projectId: id, algorithmType, algorithmParameters },
    })),
  ];
}
