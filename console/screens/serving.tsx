import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ModelRow, ServingAnswer } from "../../service/console/answers";
import { exact, grouped, lasting, measure } from "../format";
import { latest } from "../live";
import { AsCode, ofService, serviceUrl } from "../parts/as-code";
import { Apart, Card, Figure, Id, Meter, Name, State, Time } from "../parts/basics";
import { Columns } from "../parts/charts";
import { command, curl, declared } from "../parts/code";
import { rollbacks } from "../parts/deployments";
import { Empty, Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { project, to } from "../router";
import { view } from "../session";

const everyMs = 10_000;

/** What serves a project, how it has answered lately, and what served before. */
export function Screen() {
  const chosen = project.value;
  const turn = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) turn.value++;
    }, everyMs);
    return () => clearInterval(timer);
  }, [turn]);
  const serving = useLoad<ServingAnswer | undefined>(
    async (signal) => (chosen?.isDeployed ? view("serving", { project: chosen.id }, signal) : undefined),
    [chosen?.id, chosen?.isDeployed, latest.value?.version, turn.value],
  );
  return (
    <>
      <ScreenHead
        title="Serving"
        lead="What serves, how it answered over the last hour, and what served before."
      />
      <Load of={serving} lines={8}>
        {(now) =>
          now ? (
            <Serving now={now} />
          ) : (
            <Card>
              <Empty title="Nothing serves">
                <p>A Deployment of a program puts a trained model into service.</p>
              </Empty>
            </Card>
          )
        }
      </Load>
    </>
  );
}

function Serving({ now }: { now: ServingAnswer }) {
  const { recent } = now;
  const rolledBack = rollbacks(now.history);
  const busiest = Math.max(...recent.minutes.map(({ answered }) => answered)) / 60;
  return (
    <div class="stack">
      <Card title={now.projectName.slice(0, 120)} aside={<Id>{now.servingUri}</Id>}>
        <dl class="figures">
          <Served name="Model" model={now.generator} />
          {now.ranker && <Served name="Ranker" model={now.ranker} />}
          <Figure name="Deployed">
            <Time ts={now.deployedTs} />
          </Figure>
          <Figure name="In memory">{now.isLoaded ? "yes" : "not yet"}</Figure>
          <Figure name="Events since it was trained">
            {now.eventsSince ? `${grouped(now.eventsSince.count)}${now.eventsSince.isMore ? " +" : ""}` : "–"}
          </Figure>
        </dl>
      </Card>
      <Card title="The last hour" aside="answers of this process, minute by minute">
        <dl class="figures">
          <Figure name="Answered">{grouped(recent.answered)}</Figure>
          <Figure name="Refused" hint="Over the allowed queries per second">
            {grouped(recent.refused)}
          </Figure>
          <Figure name="Failed">{grouped(recent.failed)}</Figure>
          <Figure name="p50" hint="Half of the answers took no longer">
            {recent.p50Ms === null ? "–" : lasting(recent.p50Ms)}
          </Figure>
          <Figure name="p99" hint="99 of 100 answers took no longer">
            {recent.p99Ms === null ? "–" : lasting(recent.p99Ms)}
          </Figure>
          <Figure name="Busiest minute" hint="Queries per second, averaged over the minute">
            {measure(busiest, 2)} <small>of {grouped(now.qps)} per second</small>
            <Meter
              value={busiest}
              of={now.qps}
              label={`${measure(busiest, 2)} of ${now.qps} queries per second`}
              tone={busiest > now.qps * 0.8 ? "warn" : ""}
            />
          </Figure>
        </dl>
        <Columns
          title="Answers and refusals of the last hour by minute"
          names={["answered", "refused"]}
          unit="answers"
          columns={recent.minutes.map(({ ts, answered, refused }) => ({
            label: exact(ts).replace(/^.* at /, ""),
            counts: [answered, refused],
          }))}
        />
      </Card>
      <Card title="Deployments" aside="newest first">
        <div class="scroll">
          <table class="stacked">
            <thead>
              <tr>
                <th>Deployment</th>
                <th>State</th>
                <th>Model</th>
                <th>When</th>
              </tr>
            </thead>
            <tbody>
              {now.history.map((job) => (
                <tr key={job.id}>
                  <td>
                    <a href={to("jobs", [job.id])}>
                      <Name>{job.name}</Name>
                    </a>{" "}
                    {job.id === now.jobId && <span class="tag good">serves</span>}{" "}
                    {rolledBack.has(job.id) && <span class="tag">rollback</span>}
                    <Apart {...job} />
                  </td>
                  <td>
                    <State of={job.status} />
                  </td>
                  <td>
                    {job.modelId && (
                      <a href={to("models", [job.modelId])}>
                        <Name>{now.modelNames[job.modelId] ?? job.modelId}</Name>
                      </a>
                    )}
                    {job.modelId && now.modelNames[job.modelId] && (
                      <div class="apart">
                        <Id>{job.modelId}</Id>
                      </div>
                    )}
                  </td>
                  <td>
                    <Time ts={job.finishedTs ?? job.createdTs} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      <Code now={now} />
    </div>
  );
}

function Served({ name, model }: { name: string; model: ModelRow | null }) {
  return (
    <Figure name={name}>
      {model ? (
        <a href={to("models", [model.id])}>
          <Name>{model.name}</Name>
        </a>
      ) : (
        "–"
      )}
    </Figure>
  );
}

function Code({ now }: { now: ServingAnswer }) {
  const { projectId, jobId, qps, generator, ranker } = now;
  const of = { ...ofService(projectId), project: projectId };
  const models = { generatorModelId: generator?.id ?? "", ...(ranker && { rankerModelId: ranker.id }) };
  return (
    <AsCode
      projectId={projectId}
      notes={{
        program: "With existingId a program adopts what serves now, without deploying anew.",
        CLI: "Shows the job that deployed it.",
        curl: "Reads the job that deployed it; the API has no call that reads a deployment.",
      }}
      texts={{
        ...declared([
          { type: "Deployment", name: "live", fields: { existingId: projectId, projectId, ...models, qps } },
        ]),
        CLI: `${command("jobs get", of, jobId)}\n\n# This takes the project out of service:\n# ${command("shutdown", of)}`,
        curl: curl(serviceUrl(), `/get-job?${new URLSearchParams({ project_id: projectId, job_id: jobId })}`),
      }}
    />
  );
}
