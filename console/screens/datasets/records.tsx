import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { DatasetAnswer, EventRow, RecordAnswer, Suggestion } from "../../../service/console/answers";
import { counted, shown } from "../../format";
import { Card, Id, More, Name, Time } from "../../parts/basics";
import { Empty, Load, useLoad, usePages } from "../../parts/load";
import { go, place, to } from "../../router";
import { view } from "../../session";

/** Where an id is looked up. */
type LookUpField = RefObject<HTMLInputElement | null>;

/** So that not every letter is searched for. */
const searchDelayMs = 200;

/** The records, page by page in the order of their ids; a click on one looks it up. */
export function Records({ dataset, lookUp }: { dataset: DatasetAnswer; lookUp: LookUpField }) {
  const [typed, search] = [useSignal(""), useSignal("")];
  useEffect(() => {
    const timer = setTimeout(() => (search.value = typed.value.trim()), searchDelayMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const filter = { id: dataset.id, search: search.value };
  const records = usePages<Suggestion | EventRow>("records", filter, Object.values(filter));
  const isEvents = dataset.kind === "event";
  return (
    <Card title={isEvents ? "All events" : "All records"} aside="in the order of their ids">
      <div class="filters">
        <input
          type="search"
          aria-label="Search the records"
          placeholder={isEvents ? "An event, a user, an item or a type" : "Part of an id or of an attribute"}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </div>
      <Load of={records.first} lines={6}>
        {(page) => {
          const rows = [...page.rows, ...records.older];
          return (
            <>
              {rows.length > 0 && (
                <div class="scroll">
                  {isEvents ? (
                    <EventTable rows={rows as EventRow[]} />
                  ) : (
                    <RecordTable rows={rows as Suggestion[]} dataset={dataset} lookUp={lookUp} />
                  )}
                </div>
              )}
              {rows.length === 0 && records.next === null && (
                <Empty title={search.value ? "No record matches" : "No record yet"} />
              )}
              <p class="muted" role="status">
                {rows.length > 0 && `${counted(rows.length, "record")} shown. `}
                {records.next !== null && search.value && "Not all records were searched yet."}
              </p>
              <More next={records.next} onMore={records.more} />
            </>
          );
        }}
      </Load>
    </Card>
  );
}

function RecordTable({
  rows,
  dataset,
  lookUp,
}: {
  rows: readonly Suggestion[];
  dataset: DatasetAnswer;
  lookUp: LookUpField;
}) {
  const goThere = () => {
    lookUp.current?.scrollIntoView({ block: "center" });
    lookUp.current?.focus({ preventScroll: true });
  };
  return (
    <table>
      <thead>
        <tr>
          <th>Id</th>
          <th>Attributes</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, attributes }) => (
          <tr key={id}>
            <td>
              <Id href={to("datasets", [dataset.id], { record: id })} onClick={goThere}>
                {id}
              </Id>
            </td>
            <td class="prose">
              <bdi>{told(attributes)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const eventColumns = {
  Id: ({ eventId }) => <Id>{eventId}</Id>,
  When: ({ ts }) => <Time ts={ts} />,
  Type: ({ eventType }) => <bdi>{shown(eventType)}</bdi>,
  User: ({ userId }) => <Id>{userId}</Id>,
  Item: ({ itemId }) => <Id>{itemId}</Id>,
  Value: ({ eventValue }) => eventValue,
} satisfies Readonly<Record<string, (event: EventRow) => ComponentChildren>>;

function EventTable({
  rows,
  without = [],
}: {
  rows: readonly EventRow[];
  without?: readonly (keyof typeof eventColumns)[];
}) {
  const columns = Object.entries(eventColumns).filter(([name]) => !without.some((one) => one === name));
  const classOf = (name: string) => (name === "Value" ? "num" : undefined);
  return (
    <table>
      <thead>
        <tr>
          {columns.map(([name]) => (
            <th key={name} class={classOf(name)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((event) => (
          <tr key={event.eventId}>
            {columns.map(([name, of]) => (
              <td key={name} class={classOf(name)}>
                {of(event)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Attributes as one line. */
const told = (attributes: Readonly<Record<string, unknown>>): string =>
  Object.entries(attributes)
    .map(([key, value]) => `${key} ${shown(value)}`)
    .join(" · ")
    .slice(0, 400);

/** Finds the user or the item that the address names, with its events. */
export function LookUp({ dataset, field }: { dataset: DatasetAnswer; field: LookUpField }) {
  const kind = useSignal<"user" | "item">(dataset.kind === "item" ? "item" : "user");
  const asked = place.value.query.get("record") ?? "";
  const text = useSignal(asked);
  useEffect(() => {
    text.value = asked;
  }, [asked, text]);
  const found = useLoad<RecordAnswer | undefined>(
    async (signal) =>
      asked ? view("record", { dataset: dataset.id, kind: kind.value, id: asked }, signal) : undefined,
    [asked, kind.value],
  );
  return (
    <Card title="Look up">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          go(to("datasets", [dataset.id], { record: text.value }));
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
          ref={field}
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
            <p class="muted">Attributes and newest events appear here.</p>
          )
        }
      </Load>
    </Card>
  );
}

function Found({ of, kind }: { of: RecordAnswer; kind: "user" | "item" }) {
  if (of.attributes === null && of.events.length === 0)
    return <p class="muted">There is no such {kind}, and no event names one.</p>;
  return (
    <div class="stack">
      <p>
        <Name>{of.id}</Name>{" "}
        <span class="muted">{of.attributes === null ? "has events but no record" : told(of.attributes)}</span>{" "}
        {kind === "user" && <a href={to("try", [of.id])}>Try it</a>}
      </p>
      {of.events.length > 0 && (
        <div class="scroll">
          <EventTable rows={of.events} without={["Id", kind === "user" ? "User" : "Item"]} />
          {of.isMore && <p class="muted">Only the newest are shown.</p>}
        </div>
      )}
    </div>
  );
}
