import { useSignal } from "@preact/signals";
import type { ModelRow, Origin } from "../../service/console/answers";
import { counted, cut, lasting, measure } from "../format";
import { latest } from "../live";
import { AsCode, ofService, serviceUrl } from "../parts/as-code";
import { Apart, Card, More, Name, stackOf, Time } from "../parts/basics";
import { LineChart } from "../parts/charts";
import { command, curl, declared } from "../parts/code";
import { Empty, Load, usePages } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { go, place, project, to } from "../router";
import { Compared } from "./compared";
import { OneModel } from "./model";

/** The models of a project, how good they were over time, and how two differ. */
export function Screen() {
  const [one, two] = place.value.rest;
  if (one && two) return <Compared key={`${one} ${two}`} ids={[one, two]} />;
  return one ? <OneModel key={one} id={one} /> : <AllModels />;
}

function AllModels() {
  const chosen = project.value;
  const search = useSignal("");
  const picked = useSignal<readonly string[]>([]);
  const filter = { project: chosen?.id ?? "", search: search.value };
  const models = usePages<ModelRow>("models", filter, [filter.project, filter.search, latest.value?.version]);
  const pick = (id: string) => {
    const others = picked.value.filter((one) => one !== id);
    picked.value = others.length < picked.value.length ? others : [...others, id].slice(-2);
  };
  return (
    <>
      <ScreenHead
        title="Models"
        lead="The quality of each model, measured on held-out items of users whom its parameters were not chosen by. NDCG@20 counts an item more the higher it is ranked; a perfect model reaches 1. Choose two to compare them."
      >
        <button
          type="button"
          class="primary"
          disabled={picked.value.length !== 2}
          onClick={() => go(to("models", picked.value))}
        >
          Compare {picked.value.length === 2 ? "these two" : "two"}
        </button>
      </ScreenHead>
      <Load of={models.first} lines={8}>
        {(page) => {
          const rows = [...page.rows, ...models.older];
          if (rows.length === 0 && !search.value)
            return (
              <Card>
                <Empty title="No model yet">
                  <p>
                    A Model of a program is trained by <code>pulumi up</code>, and shows here with its
                    quality.
                  </p>
                </Empty>
              </Card>
            );
          return (
            <div class="stack">
              <QualityChart models={rows} />
              <Card title="All models">
                <div class="filters">
                  <input
                    type="search"
                    aria-label="Search by name or id"
                    placeholder="Search by name or id"
                    value={search.value}
                    onInput={(event) => (search.value = event.currentTarget.value)}
                  />
                </div>
                <ModelTable rows={rows} picked={picked.value} onPick={pick} />
                <More next={models.next} onMore={models.more} />
              </Card>
              <Code models={rows} projectId={filter.project} />
            </div>
          );
        }}
      </Load>
    </>
  );
}

function QualityChart({ models }: { models: readonly ModelRow[] }) {
  const measured = models.filter(({ quality }) => quality?.ndcgAt20 != null).reverse();
  if (measured.length === 0) return null;
  const points = (of: (model: ModelRow) => number | null | undefined) =>
    measured.flatMap((model) => {
      const y = of(model);
      return y == null
        ? []
        : [{ x: model.createdTs, y, label: model.name.slice(0, 60), href: to("models", [model.id]) }];
    });
  return (
    <Card
      title="Quality over time"
      aside="NDCG@20 on each model's own hold-out; figures on different data cannot be compared"
    >
      <LineChart
        title="NDCG@20 of the models over time, beside popular items"
        format={(y) => measure(y, 2)}
        series={[
          { name: "Model", points: points(({ quality }) => quality?.ndcgAt20) },
          {
            name: "Popular items, on the same hold-out",
            points: points(({ quality }) => quality?.popularityNdcgAt20),
            drawn: "dashes",
          },
        ]}
      />
    </Card>
  );
}

function ModelTable({
  rows,
  picked,
  onPick,
}: {
  rows: readonly ModelRow[];
  picked: readonly string[];
  onPick: (id: string) => void;
}) {
  const hasOrigin = rows.some(({ origin }) => origin);
  return (
    <div class="scroll">
      <table class="stacked">
        <thead>
          <tr>
            <th>
              <span class="hidden">Compare</span>
            </th>
            <th>Model</th>
            {hasOrigin && <th>Stack</th>}
            <th class="num">NDCG@20</th>
            <th class="num">Popular items</th>
            <th class="num">Recall@20</th>
            <th>Held out</th>
            <th>Trained</th>
            <th class="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((model) => (
            <tr key={model.id}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare ${model.name.slice(0, 60)}`}
                  checked={picked.includes(model.id)}
                  onChange={() => onPick(model.id)}
                />
              </td>
              <td>
                <a href={to("models", [model.id])}>
                  <Name>{model.name}</Name>
                </a>{" "}
                {model.isServing && <span class="tag good">serves</span>}
                <Apart {...model} />
              </td>
              {hasOrigin && <td>{model.origin && <StackName of={model.origin} />}</td>}
              <td class="num" data-name="NDCG@20">
                <strong>{measure(model.quality?.ndcgAt20)}</strong>
              </td>
              <td class="num" data-name="popular items">
                {measure(model.quality?.popularityNdcgAt20)}
              </td>
              <td class="num" data-name="Recall@20">
                {measure(model.quality?.recallAt20)}
              </td>
              <td data-name="held out">
                {model.quality?.heldOutPairs == null ? "–" : counted(model.quality.heldOutPairs, "pair")}
              </td>
              <td data-name="trained">
                <Time ts={model.createdTs} />
              </td>
              <td class="num" data-name="took">
                {model.trainingMs === null ? "–" : lasting(model.trainingMs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function StackName({ of }: { of: Origin }) {
  return <bdi>{cut(stackOf(of), 60)}</bdi>;
}

function Code({ models, projectId }: { models: readonly ModelRow[]; projectId: string }) {
  const [model] = models;
  if (!model) return null;
  return (
    <AsCode
      projectId={projectId}
      notes={{
        program: "With existingId a program adopts a model that is there; with algorithmId it trains one.",
      }}
      texts={{
        ...declared([{ type: "Model", name: model.name, fields: { existingId: model.id, projectId } }]),
        CLI: command("models list", { ...ofService(projectId), project: projectId }),
        curl: curl(serviceUrl(), `/list-models?${new URLSearchParams({ project_id: projectId })}`),
      }}
    />
  );
}
