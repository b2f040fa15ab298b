import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { BesideAnswer, ModelRow, Suggestion } from "../../service/console/answers";
import { cut, grouped, lasting, measure } from "../format";
import { Card, Name, stackOf } from "../parts/basics";
import { Combo } from "../parts/combo";
import { Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { to } from "../router";
import { view } from "../session";
import { ModelCode, Parameters, Rows } from "./model";

/** Two models beside each other; what differs is marked. */
export function Compared({ ids }: { ids: readonly [string, string] | readonly string[] }) {
  const both = useLoad<ModelRow[]>(
    (signal) => Promise.all(ids.map((id) => view<ModelRow>("model", { id }, signal))),
    [...ids],
  );
  return (
    <>
      <ScreenHead title="Two models" lead={<a href={to("models")}>All models</a>} />
      <Load of={both} lines={8}>
        {(models) => (
          <div class="stack">
            <Card title="Quality">
              <Rows
                models={models}
                rows={[
                  ["NDCG@20", ({ quality }) => measure(quality?.ndcgAt20)],
                  ["… of popular items", ({ quality }) => measure(quality?.popularityNdcgAt20)],
                  ["Recall@20", ({ quality }) => measure(quality?.recallAt20)],
                  ["… of popular items", ({ quality }) => measure(quality?.popularityRecallAt20)],
                  [
                    "Held-out pairs",
                    ({ quality }) => (quality?.heldOutPairs == null ? "–" : grouped(quality.heldOutPairs)),
                  ],
                  [
                    "Held-out users",
                    ({ quality }) => (quality?.heldOutUsers == null ? "–" : grouped(quality.heldOutUsers)),
                  ],
                  ["Made by stack", ({ origin }) => (origin ? cut(stackOf(origin), 60) : "–")],
                  ["Training took", ({ trainingMs }) => (trainingMs === null ? "–" : lasting(trainingMs))],
                ]}
              />
              <p class="muted">
                {isSameHoldOut(models)
                  ? "Both were measured on the same hold-out, so their figures can be compared."
                  : "They were measured on different hold-outs: compare each with popular items rather than with the other."}
              </p>
            </Card>
            <Card title="Parameters">
              <Parameters models={models} />
            </Card>
            <Beside models={models} />
            <ModelCode models={models} />
          </div>
        )}
      </Load>
    </>
  );
}

/** The same events, held out in the same way, give popularity the same figures. */
function isSameHoldOut([one, two]: readonly ModelRow[]): boolean {
  const signs = ({ projectId, seenSeq, quality }: ModelRow) =>
    JSON.stringify([
      ...[projectId, seenSeq, quality?.holdOut, quality?.heldOutPairs, quality?.heldOutUsers],
      ...[quality?.popularityNdcgAt20, quality?.popularityRecallAt20],
    ]);
  return one?.quality != null && two !== undefined && signs(one) === signs(two);
}

const usersAtFirst = 2;

/** What both recommend to the same users. */
function Beside({ models }: { models: readonly ModelRow[] }) {
  const [first] = models as [ModelRow];
  const users = useSignal<readonly string[]>([]);
  useEffect(() => {
    view<Suggestion[]>("suggest", { project: first.projectId, kind: "user" }).then(
      (found) => {
        if (users.value.length === 0) users.value = found.slice(0, usersAtFirst).map(({ id }) => id);
      },
      () => undefined,
    );
  }, [first.projectId, users]);
  const asked = users.value;
  const beside = useLoad<BesideAnswer>(
    async (signal) =>
      asked.length === 0
        ? { users: [], models: [], labels: {} }
        : view(
            "beside",
            { models: models.map(({ id }) => id).join(","), users: JSON.stringify(asked) },
            signal,
          ),
    [asked],
  );
  return (
    <Card title="The same users" aside="as each model was trained, without what they had then">
      <div class="stack">
        <Combo
          kind="user"
          projectId={first.projectId}
          label="Another user"
          placeholder="Type an id, or choose one"
          value=""
          adds="any"
          onPick={(id) => (users.value = [id, ...asked.filter((one) => one !== id)].slice(0, 5))}
        />
        <Load of={beside} lines={6}>
          {(answer) =>
            answer.users.length === 0 ? (
              <p class="muted">Choose a user to see what both recommend.</p>
            ) : (
              answer.users.map((user, at) => <OneUser key={user} {...{ user, at, answer, models }} />)
            )
          }
        </Load>
      </div>
    </Card>
  );
}

function OneUser({
  user,
  at,
  answer,
  models,
}: {
  user: string;
  at: number;
  answer: BesideAnswer;
  models: readonly ModelRow[];
}) {
  const lists = answer.models.map((of) => of[at]?.itemIds ?? []);
  const common = (lists[0] ?? []).filter((id) => lists[1]?.includes(id)).length;
  return (
    <section class="beside">
      <h3>
        <Name>{user}</Name>{" "}
        <span class="muted">
          {common} of {Math.max(...lists.map(({ length }) => length), 0)} in both
        </span>
      </h3>
      <div class="pair">
        {models.map((model, side) => {
          const known = answer.models[side]?.[at];
          const other = lists[1 - side] ?? [];
          return (
            <div key={model.id}>
              <p class="muted">
                <Name>{model.name}</Name>
                {known?.isKnown === false && ", which does not know this user: what is popular"}
              </p>
              <ol>
                {(known?.itemIds ?? []).map((id) => (
                  <li key={id} class={other.includes(id) ? "" : "differs"} title={cut(id, 300)}>
                    <bdi>{cut((Object.hasOwn(answer.labels, id) && answer.labels[id]) || id, 60)}</bdi>
                    {!other.includes(id) && <span class="tag accent">only here</span>}
                  </li>
                ))}
              </ol>
            </div>
          );
        })}
      </div>
    </section>
  );
}
