import type { Attention, JobRow, OverviewAnswer, OverviewProject } from "../../service/console/answers";
import { compact, counted, grouped, measure, titled } from "../format";
import { latest } from "../live";
import { AsCode, serviceUrl, statusCommands } from "../parts/as-code";
import { Card, Meter, Name, Time } from "../parts/basics";
import { curl, type Declared, declared, quoted } from "../parts/code";
import { Empty, Load, useLoad } from "../parts/load";
import { OrphanSwitch, OrphanTag, orphansAsked } from "../parts/orphans";
import { ScreenHead } from "../parts/screen";
import { choose, orphansShown, to } from "../router";
import { view } from "../session";
import { JobTable } from "./jobs/job-table";

/** Everything at a glance. */
export function Screen() {
  const { version, counts } = latest.value ?? {};
  const overview = useLoad<OverviewAnswer>(
    (signal) => view("overview", orphansAsked(), signal),
    [version, counts?.failed, counts?.running, counts?.pending, orphansShown.value],
  );
  return (
    <>
      <ScreenHead title="Overview" lead="What is here, what runs, and what needs attention." />
      <Load of={overview}>
        {(all) => (
          <div class="stack">
            <AttentionList all={all.attention} hasProjects={all.projects.length > 0} />
            {all.running.length > 0 && <Running jobs={latest.value?.jobs ?? all.running} />}
            {all.projects.length === 0 ? (
              <Card>
                <Empty title="Nothing is here yet">
                  <p>
                    A program that declares datasets, a project and a model fills this page: see the quick
                    start, and run <code>pulumi up</code>.
                  </p>
                </Empty>
              </Card>
            ) : (
              all.projects.map((project) => <ProjectStrip key={project.id} project={project} />)
            )}
            {all.otherProjects > 0 && (
              <p class="muted">Not shown: {counted(all.otherProjects, "older project")}.</p>
            )}
            <OrphanSwitch count={all.orphans} />
            <AsCode
              texts={{
                ...declared(
                  all.projects.filter(({ isOrphaned }) => !isOrphaned).flatMap(declaredIn),
                  leftOut(all),
                ),
                CLI: statusCommands(),
                curl: curl(serviceUrl(), "/list-event-datasets"),
              }}
              notes={{
                program:
                  "Adopts what is here into a program by its ids; nothing is created or changed by it.",
                CLI: "Tells what the service holds.",
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
        <strong>All is well.</strong> Nothing failed, nothing is full, and what serves is up to date.
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
            <bdi>{one.text.slice(0, 600)}</bdi> {one.href && <a href={one.href}>Look</a>}
          </p>
        </div>
      ))}
    </section>
  );
}

function Running({ jobs }: { jobs: readonly JobRow[] }) {
  const underWay = jobs.filter(({ finishedTs }) => finishedTs === null);
  if (underWay.length === 0) return null;
  return (
    <Card title="Under way" aside={<a href={to("jobs")}>All jobs</a>}>
      <JobTable rows={underWay} />
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
                {titled(dataset.kind)}s: deleted
              </p>
            ) : (
              <div key={dataset.id}>
                <div class="line">
                  <a href={to("datasets", [dataset.id])}>{titled(dataset.kind)}s</a>
                  <span title={`${grouped(dataset.records)} of ${grouped(dataset.capacity)} records`}>
                    {compact(dataset.records)}
                  </span>
                </div>
                <Meter
                  value={dataset.records}
                  of={dataset.capacity}
                  label={`${grouped(dataset.records)} of ${grouped(dataset.capacity)} records`}
                  tone={dataset.records > dataset.capacity * 0.9 ? "warn" : ""}
                />
              </div>
            ),
          )}
        </li>
        <li>
          <h3>Project</h3>
          <p>
            optimised for <Name>{project.targetEventType}</Name>
          </p>
          <p class="muted">{counted(project.models, "model")}</p>
        </li>
        <li>
          <h3>Model</h3>
          {newest ? (
            <>
              <p>
                <a href={to("models", [(deployment?.generator ?? newest).id])}>
                  <Name>{(deployment?.generator ?? newest).name}</Name>
                </a>
              </p>
              <p title="On held-out items of users whom the parameters were not chosen by; a perfect model reaches 1">
                NDCG@20 <strong>{measure(quality?.ndcgAt20)}</strong>{" "}
                <span class="muted">popular items {measure(quality?.popularityNdcgAt20)}</span>
              </p>
              <p class="muted">
                trained <Time ts={(deployment?.generator ?? newest).createdTs} />
              </p>
            </>
          ) : (
            <p class="muted">
              {project.isTraining ? "The first one is being trained" : "None is trained yet"}
            </p>
          )}
        </li>
        <li>
          <h3>Deployment</h3>
          {deployment ? (
            <>
              <p>
                <a href={to("serving")} onClick={() => choose(project.id)}>
                  {deployment.isLoaded ? "Serves" : "Loads"}
                </a>{" "}
                up to {counted(deployment.qps, "query").replace("querys", "queries")} per second
              </p>
              <p class="muted">
                deployed <Time ts={deployment.deployedTs} />
              </p>
              <p>
                {deployment.eventsSince
                  ? `${grouped(deployment.eventsSince.count)}${deployment.eventsSince.isMore ? " or more" : ""} events since it was trained`
                  : "How many events came since it was trained is not known"}
              </p>
              <p>
                <a href={to("try")} onClick={() => choose(project.id)}>
                  Try it
                </a>
              </p>
            </>
          ) : (
            <p class="muted">Does not serve</p>
          )}
        </li>
      </ol>
    </Card>
  );
}

/** What the program lacks of all that is there. */
function leftOut({ projects, otherProjects }: OverviewAnswer): string[] {
  return [
    ...projects
      .filter(({ otherAlgorithms }) => otherAlgorithms > 0)
      .map(
        ({ name, otherAlgorithms }) =>
          `Left out: ${counted(otherAlgorithms, "further algorithm")} of ${quoted(name)}.`,
      ),
    ...(otherProjects > 0 ? [`Left out: ${counted(otherProjects, "older project")}.`] : []),
  ];
}

/** A project and its algorithms, as they are; datasets, models and deployments have screens of their own. */
function declaredIn({ id, name, datasets, targetEventType, algorithms }: OverviewProject): Declared[] {
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
