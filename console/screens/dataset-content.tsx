import { useSignal } from "@preact/signals";
import type {
  AttributeAnswer,
  DatasetAnswer,
  EventsAnswer,
  RecordAnswer,
} from "../../service/console/answers";
import { compact, counted, grouped, percent, shown, titled } from "../format";
import { Card, Id, Meter, Name, Time } from "../parts/basics";
import { Columns } from "../parts/charts";
import { Empty, Load, useLoad } from "../parts/load";
import { to } from "../router";
import { view } from "../session";

/** The attributes of the records: their kinds, their values and their shares. */
export function Attributes({ of }: { of: DatasetAnswer }) {
  if (of.attributes.length === 0)
    return (
      <Card title="Attributes">
        <p class="muted">The records have none.</p>
      </Card>
    );
  return (
    <Card title="Attributes" aside={`in ${counted(of.sampled, "record")}`}>
      <div class="columns">
        {of.attributes.map((attribute) => (
          <Attribute key={attribute.name} of={attribute} records={of.sampled} />
        ))}
      </div>
    </Card>
  );
}

function Attribute({ of, records }: { of: AttributeAnswer; records: number }) {
  return (
    <div>
      <h3>
        <Name>{of.name}</Name> <span class="tag">{titled(of.handling)}</span>{" "}
        <span class="muted">{of.isDeclared ? "declared" : "inferred"}</span>
      </h3>
      <p class="muted">
        {percent(of.filled / Math.max(1, records))} have it, {counted(of.distinct, "value")}
        {of.range &&
          `, from ${shown(of.range.min)} to ${shown(of.range.max)}, mean ${Number(of.range.mean.toPrecision(4))}`}
      </p>
      <div class="bars">
        {of.values.slice(0, 8).map(({ value, count }) => (
          <Bar key={value} label={value} count={count} of={of.filled} />
        ))}
      </div>
    </div>
  );
}

function Bar({ label, count, of }: { label: string; count: number; of: number }) {
  return (
    <>
      <bdi title={label}>{shown(label)}</bdi>
      <Meter value={count} of={of} label={`${shown(label)}: ${grouped(count)}`} />
      <span class="num muted" title={grouped(count)}>
        {percent(count / Math.max(1, of))}
      </span>
    </>
  );
}

/** What the newest events show. */
export function Events({ of }: { of: EventsAnswer }) {
  if (of.sampled === 0)
    return (
      <Card title="Events">
        <Empty title="No event yet">
          <p>
            EventRecords of a program or <code>recommender import</code> bring some.
          </p>
        </Empty>
      </Card>
    );
  const most = of.items[0]?.count ?? 1;
  return (
    <>
      <Card title="Events per day" aside={`of the newest ${grouped(of.sampled)}, by type`}>
        <Columns
          title="Events per day by type"
          names={of.types}
          unit="events"
          columns={of.days.map(({ day, counts }) => ({ label: day, counts }))}
        />
      </Card>
      <div class="columns">
        <Card title="Most chosen items" aside={`${counted(of.distinctItems, "item")} in these events`}>
          <div class="bars">
            {of.items.map(({ id, count }) => (
              <Bar key={id} label={id} count={count} of={of.sampled} />
            ))}
          </div>
        </Card>
        <Card title="Most active users" aside={`${counted(of.distinctUsers, "user")} in these events`}>
          <div class="bars">
            {of.users.map(({ id, count }) => (
              <Bar key={id} label={id} count={count} of={of.sampled} />
            ))}
          </div>
        </Card>
      </div>
      <Card
        title="The long tail"
        aside={`events of each item, most chosen first; the first has ${compact(most)}`}
      >
        <Columns
          title="Events of each item, most chosen first"
          names={["events"]}
          unit="events"
          columns={of.tail.map((count, at) => ({ label: `${at + 1}`, counts: [count] }))}
        />
      </Card>
    </>
  );
}

/** Finds a user or an item with its events. */
export function LookUp({ dataset }: { dataset: DatasetAnswer }) {
  const kind = useSignal<"user" | "item">(dataset.kind === "item" ? "item" : "user");
  const text = useSignal("");
  const asked = useSignal("");
  const found = useLoad<RecordAnswer | undefined>(
    async (signal) =>
      asked.value
        ? view("record", { dataset: dataset.id, kind: kind.value, id: asked.value }, signal)
        : undefined,
    [asked.value, kind.value],
  );
  return (
    <Card title="Look up">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          asked.value = text.value;
        }}
      >
        {dataset.kind === "event" && (
          <select
            aria-label="Kind"
            value={kind.value}
            onChange={(event) => (kind.value = event.currentTarget.value as "user")}
          >
            <option value="user">User</option>
            <option value="item">Item</option>
          </select>
        )}
        <input
          aria-label="Id"
          placeholder={`Id of ${kind.value === "item" ? "an item" : "a user"}`}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button type="submit">Look up</button>
      </form>
      <Load of={found} lines={2}>
        {(record) =>
          record ? (
            <Found of={record} kind={kind.value} />
          ) : (
            <p class="muted">Its attributes and its newest events show here.</p>
          )
        }
      </Load>
    </Card>
  );
}

function Found({ of, kind }: { of: RecordAnswer; kind: "user" | "item" }) {
  if (of.attributes === null && of.events.length === 0)
    return <p class="muted">There is no such {kind}, and no event on one.</p>;
  return (
    <div class="stack">
      <p>
        <Name>{of.id}</Name>{" "}
        <span class="muted">
          {of.attributes === null
            ? "has events but no record"
            : Object.entries(of.attributes)
                .map(([key, value]) => `${key} ${shown(value)}`)
                .join(" · ")
                .slice(0, 400)}
        </span>{" "}
        {kind === "user" && <a href={to("try", [of.id])}>Try it</a>}
      </p>
      {of.events.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th>When</th>
                <th>Type</th>
                <th>{kind === "user" ? "Item" : "User"}</th>
                <th class="num">Value</th>
              </tr>
            </thead>
            <tbody>
              {of.events.map((event) => (
                <tr key={event.eventId}>
                  <td>
                    <Time ts={event.ts} />
                  </td>
                  <td>
                    <bdi>{shown(event.eventType)}</bdi>
                  </td>
                  <td>
                    <Id>{kind === "user" ? event.itemId : event.userId}</Id>
                  </td>
                  <td class="num">{event.eventValue}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {of.isMore && <p class="muted">Only the newest are shown.</p>}
        </div>
      )}
    </div>
  );
}
