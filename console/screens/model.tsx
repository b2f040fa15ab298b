import type { ModelRow } from "../../service/console/responses";
import {
  displayValue,
  formatDecimal,
  formatDuration,
  formatNumber,
  formatPercent,
  plural,
  toFourDigits,
} from "../format";
import { AsCode, serviceOptions, serviceUrl } from "../parts/as-code";
import { Card, Figure, Id, Name, OriginFigure, Time } from "../parts/basics";
import { command, curl, declarations } from "../parts/code";
import { Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { hrefTo } from "../router";
import { fetchView } from "../session";

/** One model: its metrics and its parameters. */
export function OneModel({ id }: { id: string }) {
  const model = useLoad<ModelRow>((signal) => fetchView("model", { id }, signal), [id]);
  return (
    <Load of={model} lines={8}>
      {(one) => (
        <>
          <ScreenHead
            title={one.name.slice(0, 120)}
            lead={
              <>
                <Id>{one.id}</Id> · <a href={hrefTo("models")}>all models</a>
              </>
            }
          >
            {one.isLive && <span class="tag good">live</span>}
          </ScreenHead>
          <div class="stack">
            <Card title="Quality" aside="on test users, who were not used to choose the parameters">
              <dl class="figures">
                <Figure name="NDCG@20">
                  {formatDecimal(one.quality?.ndcgAt20)}{" "}
                  <small>popular items {formatDecimal(one.quality?.popularityNdcgAt20)}</small>
                </Figure>
                <Figure name="Recall@20">
                  {formatDecimal(one.quality?.recallAt20)}{" "}
                  <small>popular items {formatDecimal(one.quality?.popularityRecallAt20)}</small>
                </Figure>
                <Figure name="Held out">
                  {formatNumber(one.quality?.heldOutPairs)}{" "}
                  <small>pairs of {plural(one.quality?.heldOutUsers, "user")}</small>
                </Figure>
                <Figure name="Trained">
                  <Time ts={one.createdTs} />
                </Figure>
                <Figure name="Training time">{formatDuration(one.trainingMs)}</Figure>
                <OriginFigure name="Created by stack" of={one.origin} />
              </dl>
              <p class="muted">
                The training held out some of the latest items of these users. It chose the parameters with
                other users. Recall@20 is the share of held-out items among the top 20 recommendations.
                NDCG@20 also counts how high they rank. A perfect model scores 1.
              </p>
              {(one.quality?.heldOutPairs ?? 100) < 100 && (
                <div class="note warn">
                  <strong>Small held-out set</strong>
                  <p>Metrics from fewer than 100 pairs are uncertain.</p>
                </div>
              )}
            </Card>
            {one.quality?.coverageAt20 != null && <Exposure of={one.quality} />}
            <Card title="Parameters" aside={`algorithm ${one.algorithmType}`}>
              <Parameters models={[one]} />
            </Card>
            {one.jobId && (
              <p>
                <a href={hrefTo("jobs", [one.jobId])}>Training job</a>
              </p>
            )}
            <ModelCode models={[one]} />
          </div>
        </>
      )}
    </Load>
  );
}

/** Code that adopts or reads models. */
export function ModelCode({ models }: { models: readonly ModelRow[] }) {
  return (
    <AsCode
      projectId={models[0]?.projectId}
      notes={{
        program: `Adopts ${models.length > 1 ? "the existing models" : "the existing model"} without training.`,
      }}
      texts={{
        ...declarations(
          models.map(({ id: existingId, name, projectId }) => ({
            type: "Model",
            name,
            fields: { existingId, projectId },
          })),
        ),
        CLI: models
          .map(({ id, projectId }) =>
            command("models get", { ...serviceOptions(projectId), project: projectId }, id),
          )
          .join("\n"),
        curl: models
          .map(({ id, projectId }) => {
            const query = new URLSearchParams({ project_id: projectId, model_id: id });
            return curl(serviceUrl(), `/get-model?${query}`);
          })
          .join("\n"),
      }}
    />
  );
}

/** Metrics of the recommended items. Older versions did not measure them in trainings. */
function Exposure({ of }: { of: NonNullable<ModelRow["quality"]> }) {
  return (
    <Card title="Recommended items" aside="top 20 for up to 1,000 users">
      <dl class="figures">
        <Figure name="Coverage" hint="Share of all items that are recommended to at least one of the users">
          {formatPercent(of.coverageAt20)}
        </Figure>
        <Figure name="Cold items" hint="Share of the recommended items that fewer than 5 users chose">
          {formatPercent(of.coldItemsAt20)}
        </Figure>
        <Figure
          name="Diversity"
          hint="How different the items of a list are from each other; 0 if all are the same"
        >
          {formatDecimal(of.diversityAt20)}
        </Figure>
        <Figure name="Popularity" hint="Mean popularity rank from 0 to 1; 1 is the most popular item">
          {formatDecimal(of.shownPopularityAt20)}{" "}
          <small>chosen items {formatDecimal(of.chosenPopularity)}</small>
        </Figure>
      </dl>
    </Card>
  );
}

/** The parameters of models: those that the program set, and those that the training chose. */
export function Parameters({ models }: { models: readonly ModelRow[] }) {
  const all = models.map((model) => ({ ...model.chosenParameters, ...model.algorithmParameters }));
  const names = [...new Set(all.flatMap(Object.keys))].sort();
  if (names.length === 0)
    return <p class="muted">No parameters were set, and the chosen ones are unknown.</p>;
  const textOf = (name: string) => (model: ModelRow) => {
    const given = model.algorithmParameters[name];
    const value = given ?? model.chosenParameters?.[name];
    return `${typeof value === "number" ? toFourDigits(value) : displayValue(value)}${given === undefined ? "" : " (set)"}`;
  };
  return <ModelColumns models={models} rows={names.map((name) => [name, textOf(name)])} />;
}

/** A table with a column for each model. Differences are highlighted. */
export function ModelColumns({
  models,
  rows,
}: {
  models: readonly ModelRow[];
  rows: readonly (readonly [string, (model: ModelRow) => string])[];
}) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{models.length > 1 ? "" : "Parameter"}</th>
            {models.map((model) => (
              <th key={model.id}>
                {models.length > 1 ? <Name href={hrefTo("models", [model.id])}>{model.name}</Name> : "Value"}{" "}
                {models.length > 1 && model.isLive && <span class="tag good">live</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, of], at) => {
            const values = models.map(of);
            const differs = new Set(values).size > 1;
            return (
              <tr key={at} class={differs ? "differs" : ""}>
                <td>{name}</td>
                {values.map((value, index) => (
                  <td key={models[index]?.id}>{differs ? <strong>{value}</strong> : value}</td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
