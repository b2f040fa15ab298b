import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ModelRow, ServingResponse } from "../../service/console/responses";
import { formatDecimal, formatDuration, formatExactTime, formatNumber } from "../format";
import { liveStatus } from "../live";
import { AsCode, serviceOptions, serviceUrl } from "../parts/as-code";
import { Card, Figure, Id, IdAndRelease, Meter, Name, State, Time } from "../parts/basics";
import { Columns } from "../parts/charts";
import { command, curl, declarations } from "../parts/code";
import { rollbacks } from "../parts/deployments";
import { Empty, Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { Table } from "../parts/table";
import { hrefTo, selectedProject } from "../router";
import { fetchView } from "../session";

const refreshMs = 10_000;

/** The live deployment of a project, its traffic in the last hour, and earlier deployments. */
export function Screen() {
  const chosen = selectedProject.value;
  const turn = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) turn.value++;
    }, refreshMs);
    return () => clearInterval(timer);
  }, [turn]);
  const serving = useLoad<ServingResponse | undefined>(
    async (signal) => (chosen?.isDeployed ? fetchView("serving", { project: chosen.id }, signal) : undefined),
    [chosen?.id, chosen?.isDeployed, liveStatus.value?.version, turn.value],
  );
  return (
    <>
      <ScreenHead
        title="Serving"
        lead="The live deployment, its traffic in the last hour, and earlier deployments."
      />
      <Load of={serving} lines={8}>
        {(now) =>
          now ? (
            <Serving now={now} />
          ) : (
            <Card>
              <Empty title="No live deployment">
                <p>Declare a Deployment in a program to deploy a trained model.</p>
              </Empty>
            </Card>
          )
        }
      </Load>
    </>
  );
}

function Serving({ now }: { now: ServingResponse }) {
  const { recent } = now;
  const rolledBack = rollbacks(now.history);
  const busiest = Math.max(...recent.minutes.map(({ answered }) => answered)) / 60;
  return (
    <div class="stack">
      <Card title={now.projectName.slice(0, 120)} aside={<Id>{now.servingUri}</Id>}>
        <dl class="figures">
          <LiveModel name="Model" model={now.generator} />
          {now.ranker && <LiveModel name="Ranker" model={now.ranker} />}
          <Figure name="Deployed">
            <Time ts={now.deployedTs} />
          </Figure>
          {now.rules && <Figure name="Rules">{countRules(now.rules)}</Figure>}
          <Figure name="Loaded">{now.isLoaded ? "yes" : "not yet"}</Figure>
          <Figure name="Events since training">
            {now.eventsSince
              ? `${formatNumber(now.eventsSince.count)}${now.eventsSince.isMore ? " +" : ""}`
              : "–"}
          </Figure>
        </dl>
      </Card>
      <Card title="Last hour" aside="calls to this process per minute">
        <dl class="figures">
          <Figure name="Answered">{formatNumber(recent.answered)}</Figure>
          <Figure name="Rejected" hint="Over the limit of queries per second">
            {formatNumber(recent.refused)}
          </Figure>
          <Figure name="Failed">{formatNumber(recent.failed)}</Figure>
          <Figure name="p50" hint="Median latency of a recommendation">
            {formatDuration(recent.p50Ms)}
          </Figure>
          <Figure name="p99" hint="99th percentile of the latency of a recommendation">
            {formatDuration(recent.p99Ms)}
          </Figure>
          <Figure name="Busiest minute" hint="Average queries per second in that minute">
            {formatDecimal(busiest, 2)} <small>of {formatNumber(now.qps)} per second</small>
            <Meter
              value={busiest}
              of={now.qps}
              label={`${formatDecimal(busiest, 2)} of ${now.qps} queries per second`}
              tone={busiest > now.qps * 0.8 ? "warn" : ""}
            />
          </Figure>
        </dl>
        <Columns
          title="Answered and rejected calls of the last hour by minute"
          names={["answered", "rejected"]}
          unit="calls"
          columns={recent.minutes.map(({ ts, answered, refused }) => ({
            label: formatExactTime(ts).replace(/^.* at /, ""),
            counts: [answered, refused],
          }))}
        />
      </Card>
      <Card title="Deployments" aside="newest first">
        <Table
          class="stacked"
          rows={now.history}
          keyOf={({ id }) => id}
          columns={[
            [
              "Deployment",
              (job) => (
                <>
                  <Name href={hrefTo("jobs", [job.id])}>{job.name}</Name>{" "}
                  {job.id === now.jobId && <span class="tag good">live</span>}{" "}
                  {rolledBack.has(job.id) && <span class="tag">rollback</span>}
                  <IdAndRelease {...job} />
                </>
              ),
            ],
            ["State", ({ status }) => <State of={status} />],
            [
              "Model",
              ({ modelId }) => modelId && <DeployedModel id={modelId} name={now.modelNames[modelId]} />,
            ],
            ["When", ({ finishedTs, createdTs }) => <Time ts={finishedTs ?? createdTs} />],
          ]}
        />
      </Card>
      <Code now={now} />
    </div>
  );
}

function countRules(rules: NonNullable<ServingResponse["rules"]>): number {
  return Object.values(rules).flat().length;
}

/** A model that was deployed. It has no name if it has been deleted since. */
function DeployedModel({ id, name }: { id: string; name: string | undefined }) {
  return (
    <>
      <Name href={hrefTo("models", [id])}>{name ?? id}</Name>
      {name && (
        <div class="id-and-release">
          <Id>{id}</Id>
        </div>
      )}
    </>
  );
}

function LiveModel({ name, model }: { name: string; model: ModelRow | null }) {
  return (
    <Figure name={name}>{model ? <Name href={hrefTo("models", [model.id])}>{model.name}</Name> : "–"}</Figure>
  );
}

function Code({ now }: { now: ServingResponse }) {
  const { projectId, jobId, qps, generator, ranker, rules } = now;
  const of = { ...serviceOptions(projectId), project: projectId };
  const models = { generatorModelId: generator?.id ?? "", ...(ranker && { rankerModelId: ranker.id }) };
  const fields = { existingId: projectId, projectId, ...models, qps, ...(rules && { rules }) };
  return (
    <AsCode
      projectId={projectId}
      notes={{
        program: "Adopts the live deployment without deploying again.",
        CLI: "Shows the deployment job.",
        curl: "Reads the deployment job. The API cannot read a deployment.",
      }}
      texts={{
        ...declarations([{ type: "Deployment", name: "live", fields }]),
        CLI: `${command("jobs get", of, jobId)}\n\n# This takes the project out of service:\n# ${command("shutdown", of)}`,
        curl: curl(serviceUrl(), `/get-job?${new URLSearchParams({ project_id: projectId, job_id: jobId })}`),
      }}
    />
  );
}
