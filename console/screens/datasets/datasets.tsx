import { useRef } from "preact/hooks";
import type { DatasetResponse, OverviewResponse } from "../../../service/console/responses";
import { capitalize, formatNumber, formatPercent, plural } from "../../format";
import { liveStatus } from "../../live";
import { AsCode, serviceOptions, serviceUrl, statusCommands } from "../../parts/as-code";
import { Card, Figure, Id, Meter, Name, Time } from "../../parts/basics";
import { command, curl, declarations, invocation } from "../../parts/code";
import { Empty, Load, useLoad } from "../../parts/load";
import { OrphanSwitch, OrphanTag, orphanQuery } from "../../parts/orphans";
import { ScreenHead } from "../../parts/screen";
import { Table } from "../../parts/table";
import { hrefTo, orphansShown, route } from "../../router";
import { fetchView } from "../../session";
import { Attributes, Events, RejectedRecords } from "./content";
import { LookUp, Records } from "./records";

/** The list of datasets, or the contents of one. */
export function Screen() {
  const [id] = route.value.rest;
  return id ? <OneDataset key={id} id={id} /> : <AllDatasets />;
}

function AllDatasets() {
  const overview = useLoad<OverviewResponse>(
    (signal) => fetchView("overview", orphanQuery(), signal),
    [liveStatus.value?.version, orphansShown.value],
  );
  return (
    <>
      <ScreenHead title="Datasets" lead="Users, items and events, and how full their shards are." />
      <Load of={overview}>
        {({ datasets, orphans }) => (
          <Card aside={orphans > 0 && <OrphanSwitch count={orphans} />}>
            {datasets.length === 0 ? (
              <Empty title="No datasets yet">
                <p>Declare a UserDataset, an ItemDataset and an EventDataset in a program.</p>
              </Empty>
            ) : (
              <Table
                class="fits"
                rows={datasets}
                keyOf={({ id }) => id}
                columns={[
                  [
                    "Dataset",
                    (dataset) => (
                      <>
                        <Name href={hrefTo("datasets", [dataset.id])}>{dataset.name}</Name>{" "}
                        <span class="muted">{capitalize(dataset.kind)}s</span> <OrphanTag of={dataset} />
                      </>
                    ),
                  ],
                  ["Records", ({ records }) => formatNumber(records), "num"],
                  [
                    "Full",
                    ({ records, capacity }) => (
                      <Meter
                        value={records}
                        of={capacity}
                        label={`${formatPercent(records / capacity)} of ${formatNumber(capacity)}`}
                      />
                    ),
                  ],
                  ["Shards", ({ numShards }) => formatNumber(numShards), "num"],
                ]}
              />
            )}
          </Card>
        )}
      </Load>
      <AsCode
        notes={{ program: onlyEvents, curl: onlyEvents }}
        texts={{
          ...invocation("datasets", "listEventDatasets", {}),
          CLI: statusCommands(),
          curl: curl(serviceUrl(), "/list-event-datasets"),
        }}
      />
    </>
  );
}

const onlyEvents =
  "The API lists only event datasets. For user and item datasets, open the dataset to see its code.";

function OneDataset({ id }: { id: string }) {
  const lookUp = useRef<HTMLInputElement>(null);
  const dataset = useLoad<DatasetResponse>((signal) => fetchView("dataset", { id }, signal), [id]);
  return (
    <Load of={dataset} lines={10}>
      {(one) => (
        <>
          <ScreenHead
            title={one.name.slice(0, 120)}
            lead={
              <>
                {capitalize(one.kind)}s · <Id>{one.id}</Id> · <a href={hrefTo("datasets")}>all datasets</a>
              </>
            }
          />
          <div class="stack">
            <Card>
              <dl class="figures">
                <Figure name="Records">{formatNumber(one.records)}</Figure>
                <Figure name="Capacity">
                  {formatNumber(one.capacity)} <small>in {plural(one.numShards, "shard")}</small>
                </Figure>
                <Figure name="Full">{formatPercent(one.records / one.capacity)}</Figure>
                <Figure name="Fullest shard">{formatNumber(Math.max(...one.shards, 0))}</Figure>
                <Figure name="Created">
                  <Time ts={one.createdTs} />
                </Figure>
              </dl>
              {one.projects.length > 0 && (
                <p class="muted">Used by {one.projects.map(({ name }) => name.slice(0, 60)).join(", ")}</p>
              )}
            </Card>
            {one.kind !== "event" && <Attributes of={one} />}
            {one.events && <Events of={one.events} />}
            <RejectedRecords of={one.refusals} />
            <LookUp dataset={one} field={lookUp} />
            <Records dataset={one} lookUp={lookUp} />
            <Code of={one} />
          </div>
        </>
      )}
    </Load>
  );
}

function Code({ of }: { of: DatasetResponse }) {
  const declaredOnes = of.attributes.filter(({ isDeclared }) => isDeclared);
  const attributeSchema =
    declaredOnes.length === 0
      ? undefined
      : Object.fromEntries(declaredOnes.map(({ name, handling }) => [name, handling]));
  const { id: existingId, numShards } = of;
  const upsert = {
    [`${of.kind}_dataset_id`]: of.id,
    [`${of.kind}s`]: [{ [`${of.kind}_id`]: `new-${of.kind}` }],
  };
  return (
    <AsCode
      notes={{
        program: "Adopts the existing dataset with all its records.",
        CLI: "The first command lists datasets. The second adds the records of a file to this one.",
        curl:
          of.kind === "event"
            ? "Reads the dataset's description."
            : `The API cannot read ${of.kind} datasets. This call writes a record.`,
      }}
      texts={{
        ...declarations([
          {
            type: `${capitalize(of.kind)}Dataset`,
            name: of.name,
            fields: { existingId, numShards, attributeSchema },
          },
        ]),
        CLI: [
          command("datasets list", serviceOptions()),
          command(`import ${of.kind}s`, { ...serviceOptions(), dataset: of.id }, `${of.kind}s.csv`),
        ].join("\n"),
        curl:
          of.kind === "event"
            ? curl(serviceUrl(), `/get-event-dataset?${new URLSearchParams({ event_dataset_id: of.id })}`)
            : curl(serviceUrl(), `/upsert-dataset-${of.kind}s`, upsert),
      }}
    />
  );
}
