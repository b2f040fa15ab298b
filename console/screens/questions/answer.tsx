import type { JobAnswer, ResultAnswer } from "../../../service/console/answers";
import { counted, grouped, percent, shown } from "../../format";
import { latest } from "../../live";
import { AsCode } from "../../parts/as-code";
import { Card, Id, Meter, Name, State, Time } from "../../parts/basics";
import { Columns } from "../../parts/charts";
import { Empty, Load, useLoad } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { to } from "../../router";
import { view } from "../../session";
import { asksTheSame, questionCode, questionOf } from "./question";

/** The answer to one question, as a chart. */
export function OneAnswer({ id }: { id: string }) {
  const now = latest.value?.jobs.find((job) => job.id === id);
  const job = useLoad<JobAnswer>((signal) => view("job", { id }, signal), [id, now?.status]);
  return (
    <Load of={job} lines={8}>
      {(one) => {
        const question = questionOf(one.projectId, one.data);
        // How to download the chart is of no use where it is drawn.
        const message = one.message?.replace(/ ?Add &format=svg.*$/, "");
        return (
          <>
            <ScreenHead
              title={one.name.slice(0, 120)}
              lead={
                <>
                  Asked <Time ts={one.createdTs} /> of the model{" "}
                  <a href={to("models", [String(one.data.modelId)])}>
                    <Name>{one.modelName ?? String(one.data.modelId)}</Name>
                  </a>{" "}
                  · <a href={to("questions")}>all questions</a> · <a href={to("jobs", [one.id])}>the job</a>
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
                    <Empty title="The job is not done yet">
                      <p>The answer appears here when it is.</p>
                    </Empty>
                  </Card>
                )
              )}
              {question && (
                <AsCode texts={questionCode(question)} notes={asksTheSame} projectId={one.projectId} />
              )}
            </div>
          </>
        );
      }}
    </Load>
  );
}

function Result({ id }: { id: string }) {
  const result = useLoad<ResultAnswer>((signal) => view("result", { id }, signal), [id]);
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

function Distribution({ of }: { of: ResultAnswer["distributions"][number] }) {
  const users = of.bins.reduce((sum, bin) => sum + bin.users, 0);
  const title = `Usage of ${shown(of.attribute)} = ${shown(of.value)}`;
  if (of.itemCount === 0)
    return (
      <Card title={title}>
        <p class="muted">No item has this value, so nobody uses it.</p>
      </Card>
    );
  return (
    <Card title={title} aside={`${counted(users, "user")}, ${counted(of.itemCount, "item")} with the value`}>
      <p class="muted">
        How many users (upwards) give which share of their usage (to the right) to items with this value.
      </p>
      <Columns
        title={title}
        names={["users"]}
        unit="users"
        columns={of.bins.map((bin) => ({
          label: `${percent(bin.from)} – ${percent(bin.to)}`,
          counts: [bin.users],
        }))}
      />
    </Card>
  );
}

function List({ of }: { of: ResultAnswer["lists"][number] }) {
  const words = of.conditions.map(({ attribute, value, lower_bound, upper_bound }) => {
    const bounds = [
      lower_bound == null ? "" : ` from ${percent(Number(lower_bound))}`,
      upper_bound == null ? "" : ` up to ${percent(Number(upper_bound))}`,
    ];
    return `${shown(attribute)} = ${shown(value)}${bounds.join("")}`;
  });
  return (
    <Card title={counted(of.userCount, "user")} aside={`usage of ${words.join(", ")}`}>
      {of.userCount === 0 ? (
        <p class="muted">Nobody meets the conditions.</p>
      ) : (
        <ul class="chips">
          {of.userIds.map((id) => (
            <li key={id}>
              <Id href={to("try", [id])}>{id}</Id>
            </li>
          ))}
          {of.userCount > of.userIds.length && (
            <li class="muted">
              and {grouped(of.userCount - of.userIds.length)} more, which the result names
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}

function Groups({ of }: { of: ResultAnswer["groups"] }) {
  const users = of.reduce((sum, { size }) => sum + size, 0);
  return (
    <Card
      title={`${counted(of.length, "group")} of ${counted(users, "user")}`}
      aside="bars: share of the group's usage; the line: of all users'"
    >
      <ol class="groups">
        {of.map(({ size, markers, userIds }, at) => (
          <li key={at}>
            <h3>
              Group {at + 1} <span class="muted">{counted(size, "user")}</span>
            </h3>
            <Meter value={size} of={users} label={`${grouped(size)} of ${counted(users, "user")}`} />
            {markers.length === 0 ? (
              <p class="muted">Nothing stands out in this group.</p>
            ) : (
              <ul class="markers">
                {markers.map((marker) => {
                  const words = `${percent(marker.share)} of usage, ${percent(marker.overallShare)} of all users'`;
                  return (
                    <li key={`${marker.attribute} ${marker.value}`} title={words}>
                      <span>
                        <bdi class="muted">{shown(marker.attribute)}</bdi>{" "}
                        <strong>
                          <Name>{marker.value}</Name>
                        </strong>
                      </span>
                      <span class="share" role="img" aria-label={words}>
                        <span style={{ width: `${Math.min(1, marker.share) * 100}%` }} />
                        <i style={{ left: `${Math.min(1, marker.overallShare) * 100}%` }} />
                      </span>
                      <span class="num">{percent(marker.share)}</span>
                    </li>
                  );
                })}
              </ul>
            )}
            <p class="attributes">
              {userIds.slice(0, 5).map((id) => (
                <span key={id}>
                  <Id href={to("try", [id])}>{id}</Id>{" "}
                </span>
              ))}
              {size > 5 && `and ${grouped(size - Math.min(5, userIds.length))} more`}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
