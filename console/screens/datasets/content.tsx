import type {
  AttributeAnswer,
  DatasetAnswer,
  EventsAnswer,
  RefusalsAnswer,
} from "../../../service/console/answers";
import { compact, counted, grouped, percent, rounded, shown, titled } from "../../format";
import { Card, Id, Meter, Name, Time } from "../../parts/basics";
import { Columns } from "../../parts/charts";
import { Empty } from "../../parts/load";

/** The attributes of the records: their kinds, their values and their shares. */
export function Attributes({ of }: { of: DatasetAnswer }) {
  if (of.attributes.length === 0)
    return (
      <Card title="Attributes">
        <p class="muted">The records have no attributes.</p>
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
          `, from ${shown(of.range.min)} to ${shown(of.range.max)}, mean ${rounded(of.range.mean)}`}
      </p>
      <div class="bars">
        {of.values.slice(0, 8).map(({ value, count }, at) => (
          <Bar key={at} label={value} count={count} of={of.filled} />
        ))}
      </div>
    </div>
  );
}

/** A share; its bar is full where it is as large as the longest one, the whole unless it says otherwise. */
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
      <bdi title={label}>{shown(label)}</bdi>
      <Meter value={count} of={longest} label={`${shown(label)}: ${grouped(count)}`} />
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
            EventRecords of a program or <code>recommender import</code> add some.
          </p>
        </Empty>
      </Card>
    );
  const most = of.items[0]?.count ?? 1;
  return (
    <>
      <Card
        title="Events per day"
        aside={`${counted(of.days.length, "day")}, of the newest ${counted(of.sampled, "event")}, by type`}
      >
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
              <Bar key={id} label={id} count={count} of={of.sampled} longest={most} />
            ))}
          </div>
        </Card>
        <Card title="Most active users" aside={`${counted(of.distinctUsers, "user")} in these events`}>
          <div class="bars">
            {of.users.map(({ id, count }) => (
              <Bar key={id} label={id} count={count} of={of.sampled} longest={of.users[0]?.count} />
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

/** What upserts refused, and why; the most frequent reasons first. */
export function Refusals({ of: { days, reasons, otherReasons } }: { of: RefusalsAnswer }) {
  return (
    <Card title="Refused records" aside={`of the last ${days} days, by reason`}>
      <p class="muted">
        These are records that the service refused. Records that were rejected before the upload never reach
        it: they are in the rejects file on the machine that uploaded.
      </p>
      {reasons.length === 0 ? (
        <p>The service refused none.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th class="num">Times</th>
                <th>Reason</th>
                <th>Latest records</th>
                <th>When</th>
              </tr>
            </thead>
            <tbody>
              {reasons.map(({ reason, records, lastTs, last }) => (
                <tr key={reason}>
                  <td class="num">{grouped(records)}</td>
                  <td class="prose">
                    <bdi>{reason}</bdi>
                  </td>
                  <td class="prose">
                    {last.map((one, at) => (
                      <div key={at} title={one.reason}>
                        {one.id === null ? <span class="muted">without an id</span> : <Id>{one.id}</Id>}
                      </div>
                    ))}
                  </td>
                  <td>
                    <Time ts={lastTs} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {otherReasons > 0 && <p class="muted">and {counted(otherReasons, "more reason")}</p>}
        </div>
      )}
    </Card>
  );
}
