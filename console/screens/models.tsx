import { useSignal } from "@preact/signals";
import type { ModelRow } from "../../service/console/responses";
import { formatDecimal, formatDuration, plural } from "../format";
import { liveStatus } from "../live";
import { AsCode, serviceOptions, serviceUrl } from "../parts/as-code";
import { Card, IdAndRelease, More, Name, SearchInput, stackName, Time } from "../parts/basics";
import { LineChart } from "../parts/charts";
import { command, curl, declarations } from "../parts/code";
import { Empty, Load, usePages } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { type Column, Table } from "../parts/table";
import { hrefTo, navigate, route, selectedProject } from "../router";
import { ModelComparison } from "./comparison";
import { OneModel } from "./model";

/** The models of a project with their quality over time, one model, or a comparison of two. */
export function Screen() {
  const [one, two] = route.value.rest;
  if (one && two) return <ModelComparison key={`${one} ${two}`} ids={[one, two]} />;
  return one ? <OneModel key={one} id={one} /> : <AllModels />;
}

function AllModels() {
  const chosen = selectedProject.value;
  const search = useSignal("");
  const picked = useSignal<readonly string[]>([]);
  const filter = { project: chosen?.id ?? "", search: search.value };
  const models = usePages<ModelRow>("models", filter, [
    filter.project,
    filter.search,
    liveStatus.value?.version,
  ]);
  const pick = (id: string) => {
    const others = picked.value.filter((one) => one !== id);
    picked.value = others.length < picked.value.length ? others : [...others, id].slice(-2);
  };
  return (
    <>
      <ScreenHead
        title="Models"
        lead="The quality of each model, measured on held-out items of test users. NDCG@20 counts correct items, the higher they rank the more. A perfect model scores 1. Select two models to compare them."
      >
        <button
          type="button"
          class="primary"
          disabled={picked.value.length !== 2}
          onClick={() => navigate(hrefTo("models", picked.value))}
        >
          Compare two models
        </button>
      </ScreenHead>
      <Load of={models.first} lines={8}>
        {(page) => {
          const rows = [...page.rows, ...models.older];
          if (rows.length === 0 && !search.value)
            return (
              <Card>
                <Empty title="No models yet">
                  <p>
                    Declare a Model in a program. <code>pulumi up</code> trains it.
                  </p>
                </Empty>
              </Card>
            );
          return (
            <div class="stack">
              <QualityChart models={rows} />
              <Card title="All models">
                <div class="filters">
                  <SearchInput label="Search by name or id" value={search} />
                </div>
                <ModelTable rows={rows} picked={picked.value} onPick={pick} />
                <More next={models.next} onMore={models.loadMore} />
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
        : [{ x: model.createdTs, y, label: model.name.slice(0, 60), href: hrefTo("models", [model.id]) }];
    });
  return (
    <Card
      title="Quality over time"
      aside="NDCG@20 on the held-out set of each model; values on different data are not comparable"
    >
      <LineChart
        title="NDCG@20 of the models over time, compared with popular items"
        format={(y) => formatDecimal(y, 2)}
        series={[
          { name: "Model", points: points(({ quality }) => quality?.ndcgAt20) },
          {
            name: "Popular items, on the same held-out set",
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
  const columns: Column<ModelRow>[] = [
    [
      <span class="hidden">Compare</span>,
      (model) => (
        <input
          type="checkbox"
          aria-label={`Compare ${model.name.slice(0, 60)}`}
          checked={picked.includes(model.id)}
          onChange={() => onPick(model.id)}
        />
      ),
    ],
    [
      "Model",
      (model) => (
        <>
          <Name href={hrefTo("models", [model.id])}>{model.name}</Name>{" "}
          {model.isLive && <span class="tag good">live</span>}
          <IdAndRelease {...model} />
        </>
      ),
    ],
    ["Stack", ({ origin }) => origin && <Name>{stackName(origin)}</Name>],
    ["NDCG@20", ({ quality }) => <strong>{formatDecimal(quality?.ndcgAt20)}</strong>, "num", "NDCG@20"],
    ["Popular items", ({ quality }) => formatDecimal(quality?.popularityNdcgAt20), "num", "popular items"],
    ["Recall@20", ({ quality }) => formatDecimal(quality?.recallAt20), "num", "Recall@20"],
    ["Held out", ({ quality }) => plural(quality?.heldOutPairs, "pair"), undefined, "held out"],
    ["Trained", ({ createdTs }) => <Time ts={createdTs} />, undefined, "trained"],
    ["Training time", ({ trainingMs }) => formatDuration(trainingMs), "num", "training time"],
  ];
  const shown = columns.filter(([title]) => hasOrigin || title !== "Stack");
  return <Table class="stacked" rows={rows} keyOf={({ id }) => id} columns={shown} />;
}

function Code({ models, projectId }: { models: readonly ModelRow[]; projectId: string }) {
  const [model] = models;
  if (!model) return null;
  return (
    <AsCode
      projectId={projectId}
      notes={{
        program: "Adopts the newest model. Use algorithmId instead of existingId to train a new one.",
      }}
      texts={{
        ...declarations([{ type: "Model", name: model.name, fields: { existingId: model.id, projectId } }]),
        CLI: command("models list", { ...serviceOptions(projectId), project: projectId }),
        curl: curl(serviceUrl(), `/list-models?${new URLSearchParams({ project_id: projectId })}`),
      }}
    />
  );
}
