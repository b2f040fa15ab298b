import { useRef } from "preact/hooks";
import type { DatasetAnswer, OverviewAnswer } from "../../../service/console/answers";
import { compact, counted, day, grouped, percent, titled } from "../../format";
import { latest } from "../../live";
import { AsCode, ofService, serviceUrl, statusCommands } from "../../parts/as-code";
import { Card, Figure, Id, Meter, Name, Time } from "../../parts/basics";
import { command, curl, declared, invoked } from "../../parts/code";
import { Empty, Load, useLoad } from "../../parts/load";
import { OrphanSwitch, OrphanTag, orphansAsked } from "../../parts/orphans";
import { ScreenHead } from "../../parts/screen";
import { orphansShown, place, to } from "../../router";
import { view } from "../../session";
import { Attributes, Events, Refusals } from "./content";
import { LookUp, Records } from "./records";

/** Datasets, and what is in one. */
export function Screen() {
  const [id] = place.value.rest;
  return id ? <OneDataset key={id} id={id} /> : <AllDatasets />;
}

function AllDatasets() {
  const overview = useLoad<OverviewAnswer>(
    (signal) => view("overview", orphansAsked(), signal),
    [latest.value?.version, orphansShown.value],
  );
  return (
    <>
      <ScreenHead title="Datasets" lead="Users, items and events, and how full their shards are." />
      <Load of={overview}>
        {({ datasets, orphans }) => (
          <Card aside={orphans > 0 && <OrphanSwitch count={orphans} />}>
            {datasets.length === 0 ? (
              <Empty title="No dataset yet">
                <p>A UserDataset, an ItemDataset and an EventDataset of a program show here.</p>
              </Empty>
            ) : (
              <table class="fits">
                <thead>
                  <tr>
                    <th>Dataset</th>
                    <th class="num">Records</th>
                    <th>Full</th>
                    <th class="num">Shards</th>
                  </tr>
                </thead>
                <tbody>
                  {datasets.map((dataset) => (
                    <tr key={dataset.id}>
                      <td>
                        <a href={to("datasets", [dataset.id])}>
                          <Name>{dataset.name}</Name>
                        </a>{" "}
                        <span class="muted">{titled(dataset.kind)}s</span> <OrphanTag of={dataset} />
                      </td>
                      <td class="num">{grouped(dataset.records)}</td>
                      <td>
                        <Meter
                          value={dataset.records}
                          of={dataset.capacity}
                          label={`${percent(dataset.records / dataset.capacity)} of ${grouped(dataset.capacity)}`}
                        />
                      </td>
                      <td class="num">{grouped(dataset.numShards)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Card>
        )}
      </Load>
      <AsCode
        notes={{ program: onlyEvents, curl: onlyEvents }}
        texts={{
          ...invoked("datasets", "listEventDatasets", {}),
          CLI: statusCommands(),
          curl: curl(serviceUrl(), "/list-event-datasets"),
        }}
      />
    </>
  );
}

const onlyEvents =
  "The API lists event datasets alone; user and item datasets have programs on screens of their own.";

function OneDataset({ id }: { id: string }) {
  const lookUp = useRef<HTMLInputElement>(null);
  const dataset = useLoad<DatasetAnswer>((signal) => view("dataset", { id }, signal), [id]);
  return (
    <Load of={dataset} lines={10}>
      {(one) => (
        <>
          <ScreenHead
            title={one.name.slice(0, 120)}
            lead={
              <>
                {titled(one.kind)}s · <Id>{one.id}</Id> · <a href={to("datasets")}>all datasets</a>
              </>
            }
          />
          <div class="stack">
            <Card>
              <dl class="figures">
                <Figure name="Records">{grouped(one.records)}</Figure>
                <Figure name="Room for">
                  {grouped(one.capacity)} <small>in {counted(one.numShards, "shard")}</small>
                </Figure>
                <Figure name="Full">{percent(one.records / one.capacity)}</Figure>
                <Figure name="Fullest shard">{grouped(Math.max(...one.shards, 0))}</Figure>
                <FullOn of={one} />
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
            <Refusals of={one.refusals} />
            <LookUp dataset={one} field={lookUp} />
            <Records dataset={one} lookUp={lookUp} />
            <Code of={one} />
          </div>
        </>
      )}
    </Load>
  );
}

/** When it is full at the rate of the last days, where that can be said. */
function FullOn({ of: { growth, records, capacity } }: { of: DatasetAnswer }) {
  if (records >= capacity) return null;
  if (growth === null)
    return (
      <Figure name="Full on" hint="Shown once three days or more show steady growth">
        <small>not known</small>
      </Figure>
    );
  return (
    <Figure name="Full on">
      {growth.fullTs === null ? "in over 10 years" : day(growth.fullTs)}{" "}
      <small>
        at {growth.perDay < 1 ? "less than one" : compact(growth.perDay)} a day, as in the last{" "}
        {counted(Math.round(growth.days), "day")}
      </small>
    </Figure>
  );
}

function Code({ of }: { of: DatasetAnswer }) {
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
        program: "With existingId a program adopts the dataset that is there, with all of its records.",
        CLI: "The first lists datasets; the second adds the records of a file to this one.",
        curl:
          of.kind === "event"
            ? "Reads what the dataset is."
            : `The API has no call that reads ${of.kind} datasets; this one writes a record.`,
      }}
      texts={{
        ...declared([
          {
            type: `${titled(of.kind)}Dataset`,
            name: of.name,
            fields: { existingId, numShards, attributeSchema },
          },
        ]),
        CLI: [
          command("datasets list", ofService()),
          command(`import ${of.kind}s`, { ...ofService(), dataset: of.id }, `${of.kind}s.csv`),
        ].join("\n"),
        curl:
          of.kind === "event"
            ? curl(serviceUrl(), `/get-event-dataset?${new URLSearchParams({ event_dataset_id: of.id })}`)
            : curl(serviceUrl(), `/upsert-dataset-${of.kind}s`, upsert),
      }}
    />
  );
}
