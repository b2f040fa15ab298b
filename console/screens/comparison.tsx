import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ComparisonResponse, ModelRow, Suggestion } from "../../service/console/responses";
import { formatDecimal, formatDuration, formatNumber, truncate } from "../format";
import { Card, Name, stackName } from "../parts/basics";
import { Combo } from "../parts/combo";
import { Load, useLoad } from "../parts/load";
import { ScreenHead } from "../parts/screen";
import { hrefTo } from "../router";
import { fetchView } from "../session";
import { ModelCode, ModelColumns, Parameters } from "./model";

/** Compares two models side by side and highlights the differences. */
export function ModelComparison({ ids }: { ids: readonly [string, string] | readonly string[] }) {
  const both = useLoad<ModelRow[]>(
    (signal) => Promise.all(ids.map((id) => fetchView<ModelRow>("model", { id }, signal))),
    [...ids],
  );
  return (
    <>
      <ScreenHead title="Two models" lead={<a href={hrefTo("models")}>All models</a>} />
      <Load of={both} lines={8}>
        {(models) => (
          <div class="stack">
            <Card title="Quality">
              <ModelColumns
                models={models}
                rows={[
                  ["NDCG@20", ({ quality }) => formatDecimal(quality?.ndcgAt20)],
                  ["NDCG@20 of popular items", ({ quality }) => formatDecimal(quality?.popularityNdcgAt20)],
                  ["Recall@20", ({ quality }) => formatDecimal(quality?.recallAt20)],
                  [
                    "Recall@20 of popular items",
                    ({ quality }) => formatDecimal(quality?.popularityRecallAt20),
                  ],
                  ["Held-out pairs", ({ quality }) => formatNumber(quality?.heldOutPairs)],
                  ["Held-out users", ({ quality }) => formatNumber(quality?.heldOutUsers)],
                  ["Created by stack", ({ origin }) => (origin ? truncate(stackName(origin), 60) : "–")],
                  ["Training time", ({ trainingMs }) => formatDuration(trainingMs)],
                ]}
              />
              <p class="muted">
                {isSameHoldOut(models)
                  ? "Both models were evaluated on the same held-out set, so you can compare their metrics."
                  : "The models were evaluated on different held-out sets. Compare each one with popular items, not with the other."}
              </p>
            </Card>
            <Card title="Parameters">
              <Parameters models={models} />
            </Card>
            <SameUsers models={models} />
            <ModelCode models={models} />
          </div>
        )}
      </Load>
    </>
  );
}

/**
 * Whether two models were probably evaluated on the same held-out set. If so, popular items have the same metrics for
 * both.
 */
function isSameHoldOut([one, two]: readonly ModelRow[]): boolean {
  const fingerprint = ({ projectId, seenSeq, quality }: ModelRow) =>
    JSON.stringify([
      projectId,
      seenSeq,
      quality?.holdOut,
      quality?.heldOutPairs,
      quality?.heldOutUsers,
      quality?.popularityNdcgAt20,
      quality?.popularityRecallAt20,
    ]);
  return one?.quality != null && two !== undefined && fingerprint(one) === fingerprint(two);
}

const initialUsers = 2;

/** The recommendations of both models for the same users. */
function SameUsers({ models }: { models: readonly ModelRow[] }) {
  const [first] = models as [ModelRow];
  const users = useSignal<readonly string[]>([]);
  useEffect(() => {
    fetchView<Suggestion[]>("suggest", { project: first.projectId, kind: "user" }).then(
      (found) => {
        if (users.value.length === 0) users.value = found.slice(0, initialUsers).map(({ id }) => id);
      },
      () => undefined,
    );
  }, [first.projectId, users]);
  const asked = users.value;
  const comparison = useLoad<ComparisonResponse>(
    async (signal) =>
      asked.length === 0
        ? { users: [], models: [], labels: {} }
        : fetchView(
            "compare",
            { models: models.map(({ id }) => id).join(","), users: JSON.stringify(asked) },
            signal,
          ),
    [asked],
  );
  return (
    <Card
      title="Recommendations for the same users"
      aside="as of the training, without items they already had"
    >
      <div class="stack">
        <Combo
          kind="user"
          projectId={first.projectId}
          label="Add a user"
          placeholder="Type or choose an id"
          value=""
          addMode="any"
          onPick={(id) => (users.value = [id, ...asked.filter((one) => one !== id)].slice(0, 5))}
        />
        <Load of={comparison} lines={6}>
          {(answer) =>
            answer.users.length === 0 ? (
              <p class="muted">Choose a user to compare the recommendations of both models.</p>
            ) : (
              answer.users.map((user, at) => (
                <OneUser key={user} user={user} at={at} answer={answer} models={models} />
              ))
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
  answer: ComparisonResponse;
  models: readonly ModelRow[];
}) {
  const lists = answer.models.map((of) => of[at]?.itemIds ?? []);
  const common = (lists[0] ?? []).filter((id) => lists[1]?.includes(id)).length;
  return (
    <section class="comparison">
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
                {known?.isKnown === false && " does not know this user: popular items"}
              </p>
              <ol>
                {(known?.itemIds ?? []).map((id) => (
                  <li key={id} class={other.includes(id) ? "" : "differs"} title={truncate(id, 300)}>
                    <bdi>{truncate((Object.hasOwn(answer.labels, id) && answer.labels[id]) || id, 60)}</bdi>
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
