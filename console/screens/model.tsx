import type { ModelRow, QualityAnswer } from "../../service/console/answers";
import { counted, grouped, lasting, measure, percent, rounded, shown } from "../format";
import { AsCode, ofService, serviceUrl } from "../parts/as-code";
import { Card, Figure, Id, Name, OriginFigure, Time } from "../parts/basics";
import { command, curl, declared } from "../parts/code";
import { Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { to } from "../router";
import { view } from "../session";

/** One model: what it was trained with, and what was measured. */
export function OneModel({ id }: { id: string }) {
  const model = useLoad<ModelRow>((signal) => view("model", { id }, signal), [id]);
  return (
    <Load of={model} lines={8}>
      {(one) => (
        <>
          <ScreenHead
            title={one.name.slice(0, 120)}
            lead={
              <>
                <Id>{one.id}</Id> · <a href={to("models")}>all models</a>
              </>
            }
          >
            {one.isServing && <span class="tag good">serves</span>}
          </ScreenHead>
          <div class="stack">
            <Card title="Quality" aside="measured on users whom the parameters were not chosen by">
              <dl class="figures">
                <Figure name="NDCG@20">
                  {measure(one.quality?.ndcgAt20)}{" "}
                  <small>popular items {measure(one.quality?.popularityNdcgAt20)}</small>
                </Figure>
                <Figure name="Recall@20">
                  {measure(one.quality?.recallAt20)}{" "}
                  <small>popular items {measure(one.quality?.popularityRecallAt20)}</small>
                </Figure>
                <Figure name="Held out">
                  {one.quality?.heldOutPairs == null ? "–" : grouped(one.quality.heldOutPairs)}{" "}
                  <small>
                    pairs of{" "}
                    {one.quality?.heldOutUsers == null ? "–" : counted(one.quality.heldOutUsers, "user")}
                  </small>
                </Figure>
                <Figure name="Trained">
                  <Time ts={one.createdTs} />
                </Figure>
                <Figure name="Took">{one.trainingMs === null ? "–" : lasting(one.trainingMs)}</Figure>
                <OriginFigure name="Made by stack" of={one.origin} />
              </dl>
              <p class="muted">
                The training kept some of the latest items of these users to itself, and chose its parameters
                by other users. Recall@20 is the share of these items that is among the first 20 recommended.
                NDCG@20 counts an item more the higher it is ranked. A perfect model reaches 1.
              </p>
              {(one.quality?.heldOutPairs ?? 100) < 100 && (
                <div class="note warn">
                  <strong>Few pairs were held out</strong>
                  <p>Figures that rest on fewer than 100 pairs are uncertain.</p>
                </div>
              )}
            </Card>
            {one.quality?.coverageAt20 != null && <Exposure of={one.quality} />}
            <Card title="Parameters" aside={`algorithm ${one.algorithmType}`}>
              <Parameters models={[one]} />
            </Card>
            {one.jobId && (
              <p>
                <a href={to("jobs", [one.jobId])}>The job that trained it</a>
              </p>
            )}
            <ModelCode models={[one]} />
          </div>
        </>
      )}
    </Load>
  );
}

/** What adopts or reads models. */
export function ModelCode({ models }: { models: readonly ModelRow[] }) {
  return (
    <AsCode
      projectId={models[0]?.projectId}
      notes={{
        program: `With existingId a program adopts ${models.length > 1 ? "both as they are" : "this model as it is"}; nothing is trained.`,
      }}
      texts={{
        ...declared(
          models.map(({ id: existingId, name, projectId }) => ({
            ...{ type: "Model", name, fields: { existingId, projectId } },
          })),
        ),
        CLI: models
          .map(({ id, projectId }) =>
            command("models get", { ...ofService(projectId), project: projectId }, id),
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

/** What the model shows to users; trainings by older versions did not measure it. */
function Exposure({ of }: { of: QualityAnswer }) {
  return (
    <Card title="What it shows" aside="the first 20 items for up to 1,000 users">
      <dl class="figures">
        <Figure name="Coverage" hint="Share of all items that at least one of the users is shown">
          {percent(of.coverageAt20)}
        </Figure>
        <Figure name="Cold items" hint="Share of the results that fewer than 5 users chose">
          {percent(of.coldItemsAt20)}
        </Figure>
        <Figure name="Diversity" hint="How unlike the items of a list are; 0 where all are the same">
          {measure(of.diversityAt20)}
        </Figure>
        <Figure name="How popular" hint="Mean place in the order of popularity; 1 for the most popular item">
          {measure(of.shownPopularityAt20)} <small>of what users chose {measure(of.chosenPopularity)}</small>
        </Figure>
      </dl>
    </Card>
  );
}

/** What models were trained with. */
export function Parameters({ models }: { models: readonly ModelRow[] }) {
  const all = models.map((model) => ({ ...model.chosenParameters, ...model.algorithmParameters }));
  const names = [...new Set(all.flatMap(Object.keys))].sort();
  if (names.length === 0) return <p class="muted">None were given, and what was chosen is not known.</p>;
  const textOf = (name: string) => (model: ModelRow) => {
    const given = model.algorithmParameters[name];
    const value = given ?? model.chosenParameters?.[name];
    return `${typeof value === "number" ? rounded(value) : shown(value)}${given === undefined ? "" : " (given)"}`;
  };
  return <Rows models={models} rows={names.map((name) => [name, textOf(name)])} />;
}

/** A table with a column for each model; what differs is marked. */
export function Rows({
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
                {models.length > 1 ? (
                  <a href={to("models", [model.id])}>
                    <Name>{model.name}</Name>
                  </a>
                ) : (
                  "Value"
                )}{" "}
                {models.length > 1 && model.isServing && <span class="tag good">serves</span>}
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
