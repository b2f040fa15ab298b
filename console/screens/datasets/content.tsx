import type {
  AttributeSummary,
  DatasetResponse,
  EventsSummary,
  Rejections,
} from "../../../service/console/responses";
import {
  capitalize,
  displayValue,
  formatCompact,
  formatNumber,
  formatPercent,
  plural,
  toFourDigits,
} from "../../format";
import { Card, Id, Meter, Name, Time } from "../../parts/basics";
import { Columns } from "../../parts/charts";
import { Empty } from "../../parts/load";
import { Table } from "../../parts/table";

/** The attributes of the records: types, and how often each value occurs. */
export function Attributes({ of }: { of: DatasetResponse }) {
  if (of.attributes.length === 0)
    return (
      <Card title="Attributes">
        <p class="muted">The records have no attributes.</p>
      </Card>
    );
  return (
    <Card title="Attributes" aside={`in ${plural(of.sampled, "record")}`}>
      <div class="columns">
        {of.attributes.map((attribute) => (
          <Attribute key={attribute.name} of={attribute} records={of.sampled} />
        ))}
      </div>
    </Card>
  );
}

function Attribute({ of, records }: { of: AttributeSummary; records: number }) {
  return (
    <div>
      <h3>
        <Name>{of.name}</Name> <span class="tag">{capitalize(of.handling)}</span>{" "}
        <span class="muted">{of.isDeclared ? "declared" : "inferred"}</span>
      </h3>
      <p class="muted">
        in {formatPercent(of.filled / Math.max(1, records))} of records, {plural(of.distinct, "value")}
        {of.range &&
          `, from ${displayValue(of.range.min)} to ${displayValue(of.range.max)}, mean ${toFourDigits(of.range.mean)}`}
      </p>
      <div class="bars">
        {of.values.slice(0, 8).map(({ value, count }, at) => (
          <Bar key={at} label={value} count={count} of={of.filled} />
        ))}
      </div>
    </div>
  );
}

/** A label, a bar, and `count` as a share of `of`. The bar is full if `count` equals `longest`. */
function Bar({
  label,
  count,
  of,
  longest = of,
}: {
  label: string;
  count: number;
  of: number;
  longest?: number | undefined;
}) {
  return (
    <>
      <bdi title={label}>{displayValue(label)}</bdi>
      <Meter value={count} of={longest} label={`${displayValue(label)}: ${formatNumber(count)}`} />
      <span class="num muted" title={formatNumber(count)}>
        {formatPercent(count / Math.max(1, of))}
      </span>
    </>
  );
}

/** Charts of the newest events: per day, per item and per user. */
export function Events({ of }: { of: EventsSummary }) {
  if (of.sampled === 0)
    return (
      <Card title="Events">
        <Empty title="No events yet">
          <p>
            Declare EventRecords in a program, or run <code>recommender import</code>.
          </p>
        </Empty>
      </Card>
    );
  const most = of.items[0]?.count ?? 1;
  return (
    <>
      <Card
        title="Events per day"
        aside={`${plural(of.days.length, "day")}, by type, from the newest ${plural(of.sampled, "event")}`}
      >
        <Columns
          title="Events per day by type"
          names={of.types}
          unit="events"
          columns={of.days.map(({ day, counts }) => ({ label: day, counts }))}
        />
      </Card>
      <div class="columns">
        <Card title="Most chosen items" aside={`${plural(of.distinctItems, "item")} in these events`}>
          <div class="bars">
            {of.items.map(({ id, count }) => (
              <Bar key={id} label={id} count={count} of={of.sampled} longest={most} />
            ))}
          </div>
        </Card>
        <Card title="Most active users" aside={`${plural(of.distinctUsers, "user")} in these events`}>
          <div class="bars">
            {of.users.map(({ id, count }) => (
              <Bar key={id} label={id} count={count} of={of.sampled} longest={of.users[0]?.count} />
            ))}
          </div>
        </Card>
      </div>
      <Card
        title="Long tail"
        aside={`events per item, most chosen first; the first item has ${formatCompact(most)}`}
      >
        <Columns
          title="Events per item, most chosen first"
          names={["events"]}
          unit="events"
          columns={of.tail.map((count, at) => ({ label: `${at + 1}`, counts: [count] }))}
        />
      </Card>
    </>
  );
}

/** Records that the service rejected, by reason, the most frequent reason first. */
export function RejectedRecords({ of: { days, reasons, otherReasons } }: { of: Rejections }) {
  return (
    <Card title="Rejected records" aside={`last ${days} days, by reason`}>
      <p class="muted">
        Records that the service rejected. Records that were rejected before the upload are in the rejects
        file on the machine that ran the upload.
      </p>
      {reasons.length === 0 ? (
        <p>The service rejected no records.</p>
      ) : (
        <>
          <Table
            rows={reasons}
            keyOf={({ reason }) => reason}
            columns={[
              ["Count", ({ records }) => formatNumber(records), "num"],
              ["Reason", ({ reason }) => <bdi>{reason}</bdi>, "prose"],
              ["Latest records", ({ last }) => last.map(rejectedRecord), "prose"],
              ["When", ({ lastTs }) => <Time ts={lastTs} />],
            ]}
          />
          {otherReasons > 0 && <p class="muted">and {plural(otherReasons, "more reason")}</p>}
        </>
      )}
    </Card>
  );
}

function rejectedRecord({ id, reason }: Rejections["reasons"][number]["last"][number], at: number) {
  return (
    <div key={at} title={reason}>
      {id === null ? <span class="muted">no id</span> : <Id>{id}</Id>}
    </div>
  );
}
