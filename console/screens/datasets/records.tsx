import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type {
  DatasetResponse,
  EventRow,
  RecordResponse,
  Suggestion,
} from "../../../service/console/responses";
import { displayValue, plural } from "../../format";
import { Card, Id, More, Name, SearchInput, Time } from "../../parts/basics";
import { Empty, Load, useLoad, usePages } from "../../parts/load";
import { type Column, Table } from "../../parts/table";
import { hrefTo, navigate, route } from "../../router";
import { fetchView } from "../../session";

/** The input of the lookup. */
type LookUpField = RefObject<HTMLInputElement | null>;

/** Delay before a search, so typing does not start one for every letter. */
const searchDelayMs = 200;

/** The records, page by page in the order of their ids. A click on an id looks it up. */
export function Records({ dataset, lookUp }: { dataset: DatasetResponse; lookUp: LookUpField }) {
  const [typed, search] = [useSignal(""), useSignal("")];
  useEffect(() => {
    const timer = setTimeout(() => (search.value = typed.value.trim()), searchDelayMs);
    return () => clearTimeout(timer);
  }, [typed.value]);
  const filter = { id: dataset.id, search: search.value };
  const records = usePages<Suggestion | EventRow>("records", filter, Object.values(filter));
  const isEvents = dataset.kind === "event";
  return (
    <Card title={isEvents ? "All events" : "All records"} aside="ordered by id">
      <div class="filters">
        <SearchInput
          label="Search the records"
          placeholder={isEvents ? "Event, user, item or type" : "Part of an id or an attribute"}
          value={typed}
        />
      </div>
      <Load of={records.first} lines={6}>
        {(page) => {
          const rows = [...page.rows, ...records.older];
          return (
            <>
              {rows.length > 0 &&
                (isEvents ? (
                  <EventTable rows={rows as EventRow[]} />
                ) : (
                  <RecordTable rows={rows as Suggestion[]} dataset={dataset} lookUp={lookUp} />
                ))}
              {rows.length === 0 && records.next === null && (
                <Empty title={search.value ? "No matching records" : "No records yet"} />
              )}
              <p class="muted" role="status">
                {rows.length > 0 && `${plural(rows.length, "record")} shown. `}
                {records.next !== null && search.value && "Some records have not been searched yet."}
              </p>
              <More next={records.next} onMore={records.loadMore} />
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
  dataset: DatasetResponse;
  lookUp: LookUpField;
}) {
  const focusLookUp = () => {
    lookUp.current?.scrollIntoView({ block: "center" });
    lookUp.current?.focus({ preventScroll: true });
  };
  const lookUpLink = ({ id }: Suggestion) => (
    <Id href={hrefTo("datasets", [dataset.id], { record: id })} onClick={focusLookUp}>
      {id}
    </Id>
  );
  return (
    <Table
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        ["Id", lookUpLink],
        ["Attributes", ({ attributes }) => <bdi>{attributesText(attributes)}</bdi>, "prose"],
      ]}
    />
  );
}

const eventColumns: readonly Column<EventRow>[] = [
  ["Id", ({ eventId }) => <Id>{eventId}</Id>],
  ["When", ({ ts }) => <Time ts={ts} />],
  ["Type", ({ eventType }) => <bdi>{displayValue(eventType)}</bdi>],
  ["User", ({ userId }) => <Id>{userId}</Id>],
  ["Item", ({ itemId }) => <Id>{itemId}</Id>],
  ["Value", ({ eventValue }) => eventValue, "num"],
];

function EventTable({ rows, without = [] }: { rows: readonly EventRow[]; without?: readonly string[] }) {
  const columns = eventColumns.filter(([title]) => !without.includes(title as string));
  return <Table rows={rows} keyOf={({ eventId }) => eventId} columns={columns} />;
}

/** Formats attributes as one line. */
const attributesText = (attributes: Readonly<Record<string, unknown>>): string =>
  Object.entries(attributes)
    .map(([key, value]) => `${key} ${displayValue(value)}`)
    .join(" · ")
    .slice(0, 400);

/** Shows the user or the item whose id is in the URL, with its events. */
export function LookUp({ dataset, field }: { dataset: DatasetResponse; field: LookUpField }) {
  const kind = useSignal<"user" | "item">(dataset.kind === "item" ? "item" : "user");
  const asked = route.value.query.get("record") ?? "";
  const text = useSignal(asked);
  useEffect(() => {
    text.value = asked;
  }, [asked, text]);
  const found = useLoad<RecordResponse | undefined>(
    async (signal) =>
      asked ? fetchView("record", { dataset: dataset.id, kind: kind.value, id: asked }, signal) : undefined,
    [asked, kind.value],
  );
  return (
    <Card title="Look up">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          navigate(hrefTo("datasets", [dataset.id], { record: text.value }));
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
          placeholder={kind.value === "item" ? "Item id" : "User id"}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <button type="submit">Look up</button>
      </form>
      <Load of={found} lines={2}>
        {(record) =>
          record ? (
            <RecordDetails of={record} kind={kind.value} />
          ) : (
            <p class="muted">Enter an id to see its attributes and newest events.</p>
          )
        }
      </Load>
    </Card>
  );
}

function RecordDetails({ of, kind }: { of: RecordResponse; kind: "user" | "item" }) {
  if (of.attributes === null && of.events.length === 0)
    return <p class="muted">There is no such {kind}, in the records or in the events.</p>;
  return (
    <div class="stack">
      <p>
        <Name>{of.id}</Name>{" "}
        <span class="muted">
          {of.attributes === null ? "has events, but no record" : attributesText(of.attributes)}
        </span>{" "}
        {kind === "user" && <a href={hrefTo("try", [of.id])}>Try it</a>}
      </p>
      {of.events.length > 0 && (
        <>
          <EventTable rows={of.events} without={["Id", kind === "user" ? "User" : "Item"]} />
          {of.isMore && <p class="muted">Only the newest events are shown.</p>}
        </>
      )}
    </div>
  );
}
