import type { JobResponse, ResultResponse } from "../../../service/console/responses";
import { displayValue, formatNumber, formatPercent, plural } from "../../format";
import { liveStatus } from "../../live";
import { AsCode } from "../../parts/as-code";
import { Card, Id, Meter, Name, State, Time } from "../../parts/basics";
import { Columns } from "../../parts/charts";
import { Empty, Load, useLoad } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { hrefTo } from "../../router";
import { fetchView } from "../../session";
import { codeNotes, questionCode, questionOf } from "./question";

/** The answer to one question, as charts. */
export function OneAnswer({ id }: { id: string }) {
  const now = liveStatus.value?.jobs.find((job) => job.id === id);
  const job = useLoad<JobResponse>((signal) => fetchView("job", { id }, signal), [id, now?.status]);
  return (
    <Load of={job} lines={8}>
      {(one) => {
        const question = questionOf(one.projectId, one.data);
        // This page draws the chart, so the hint about downloading it is removed.
        const message = one.message?.replace(/ ?Add &format=svg.*$/, "");
        return (
          <>
            <ScreenHead
              title={one.name.slice(0, 120)}
              lead={
                <>
                  Asked <Time ts={one.createdTs} /> about the model{" "}
                  <Name href={hrefTo("models", [String(one.data.modelId)])}>
                    {one.modelName ?? String(one.data.modelId)}
                  </Name>{" "}
                  · <a href={hrefTo("questions")}>all questions</a> ·{" "}
                  <a href={hrefTo("jobs", [one.id])}>job</a>
                </>
              }
            >
              <State of={one.status} />
            </ScreenHead>
            <div class="stack">
              {message && (
                <p class={`note ${one.status === "FAILED" ? "bad" : ""}`}>
                  <bdi>{message.slice(0, 2000)}</bdi>
                </p>
              )}
              {one.status === "SUCCEED" ? (
                <Result id={id} />
              ) : (
                one.status !== "FAILED" && (
                  <Card>
                    <Empty title="The job is still running">
                      <p>The answer will appear here.</p>
                    </Empty>
                  </Card>
                )
              )}
              {question && (
                <AsCode texts={questionCode(question)} notes={codeNotes} projectId={one.projectId} />
              )}
            </div>
          </>
        );
      }}
    </Load>
  );
}

function Result({ id }: { id: string }) {
  const result = useLoad<ResultResponse>((signal) => fetchView("result", { id }, signal), [id]);
  return (
    <Load of={result} lines={6}>
      {({ distributions, lists, groups }) => (
        <div class="stack">
          {distributions.map((one, at) => (
            <Distribution key={at} of={one} />
          ))}
          {lists.map((one, at) => (
            <List key={at} of={one} />
          ))}
          {groups.length > 0 && <Groups of={groups} />}
        </div>
      )}
    </Load>
  );
}

function Distribution({ of }: { of: ResultResponse["distributions"][number] }) {
  const users = of.bins.reduce((sum, bin) => sum + bin.users, 0);
  const title = `Usage of ${displayValue(of.attribute)} = ${displayValue(of.value)}`;
  if (of.itemCount === 0)
    return (
      <Card title={title}>
        <p class="muted">No item has this value, so no user uses it.</p>
      </Card>
    );
  return (
    <Card title={title} aside={`${plural(users, "user")}, ${plural(of.itemCount, "item")} with the value`}>
      <p class="muted">
        Number of users (vertical) by the share of their usage that goes to items with this value
        (horizontal).
      </p>
      <Columns
        title={title}
        names={["users"]}
        unit="users"
        columns={of.bins.map((bin) => ({
          label: `${formatPercent(bin.from)} – ${formatPercent(bin.to)}`,
          counts: [bin.users],
        }))}
      />
    </Card>
  );
}

function List({ of }: { of: ResultResponse["lists"][number] }) {
  const words = of.conditions.map(({ attribute, value, lower_bound, upper_bound }) => {
    const bounds = [
      lower_bound == null ? "" : ` from ${formatPercent(Number(lower_bound))}`,
      upper_bound == null ? "" : ` up to ${formatPercent(Number(upper_bound))}`,
    ];
    return `${displayValue(attribute)} = ${displayValue(value)}${bounds.join("")}`;
  });
  return (
    <Card title={plural(of.userCount, "user")} aside={`usage of ${words.join(", ")}`}>
      {of.userCount === 0 ? (
        <p class="muted">No user matches the conditions.</p>
      ) : (
        <ul class="chips">
          {of.userIds.map((id) => (
            <li key={id}>
              <Id href={hrefTo("try", [id])}>{id}</Id>
            </li>
          ))}
          {of.userCount > of.userIds.length && (
            <li class="muted">
              and {formatNumber(of.userCount - of.userIds.length)} more, listed in the job's result
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}

function Groups({ of }: { of: ResultResponse["groups"] }) {
  const users = of.reduce((sum, { size }) => sum + size, 0);
  return (
    <Card
      title={`${plural(of.length, "group")} of ${plural(users, "user")}`}
      aside="bar: share of usage in the group; line: share of usage of all users"
    >
      <ol class="groups">
        {of.map(({ size, markers, userIds }, at) => (
          <li key={at}>
            <h3>
              Group {at + 1} <span class="muted">{plural(size, "user")}</span>
            </h3>
            <Meter value={size} of={users} label={`${formatNumber(size)} of ${plural(users, "user")}`} />
            {markers.length === 0 ? (
              <p class="muted">Nothing stands out in this group.</p>
            ) : (
              <ul class="markers">
                {markers.map((marker) => {
                  const words = `${formatPercent(marker.share)} of usage in the group, ${formatPercent(marker.overallShare)} of all usage`;
                  return (
                    <li key={`${marker.attribute} ${marker.value}`} title={words}>
                      <span>
                        <bdi class="muted">{displayValue(marker.attribute)}</bdi>{" "}
                        <strong>
                          <Name>{marker.value}</Name>
                        </strong>
                      </span>
                      <span class="share" role="img" aria-label={words}>
                        <span style={{ width: `${Math.min(1, marker.share) * 100}%` }} />
                        <i style={{ left: `${Math.min(1, marker.overallShare) * 100}%` }} />
                      </span>
                      <span class="num">{formatPercent(marker.share)}</span>
                    </li>
                  );
                })}
              </ul>
            )}
            <p class="attributes">
              {userIds.slice(0, 5).map((id) => (
                <span key={id}>
                  <Id href={hrefTo("try", [id])}>{id}</Id>{" "}
                </span>
              ))}
              {size > 5 && `and ${formatNumber(size - Math.min(5, userIds.length))} more`}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
