import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { TryResponse } from "../../../service/console/responses";
import { formatDuration } from "../../format";
import { AsCode, serviceOptions, serviceUrl } from "../../parts/as-code";
import { Card } from "../../parts/basics";
import { command, curl, invocation } from "../../parts/code";
import { Combo } from "../../parts/combo";
import { Empty, Load, useLoad } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { hrefTo, navigate, route, selectedProject } from "../../router";
import { postJson } from "../../session";
import { AttributesInput, FilterInput, parsedAttributes } from "./inputs";
import { Ranked } from "./ranked";
import { type Changes, noChanges, WhatIf } from "./what-if";

/** Recommendations for a user, or for someone known only by attributes, with reasons and what-if changes. */
export function Screen() {
  const chosen = selectedProject.value;
  const [userId = ""] = route.value.rest;
  const changes = useSignal<Changes>(noChanges);
  const stranger = useSignal<string | undefined>(undefined);
  const filter = useSignal("");
  const lastRead = useRef<Record<string, unknown>>(undefined);
  useEffect(() => {
    changes.value = noChanges;
  }, [userId, chosen?.id]);
  if (!chosen?.isDeployed)
    return (
      <>
        <ScreenHead title="Try it" />
        <Card>
          <Empty title={chosen ? "The project is not deployed" : "No projects yet"}>
            <p>Declare a Deployment in a program to try its recommendations here.</p>
          </Empty>
        </Card>
      </>
    );
  const isStranger = stranger.value !== undefined;
  const attributes = parsedAttributes(stranger.value);
  // While the JSON is incomplete, the last valid attributes stay in use.
  if (attributes.value || !isStranger) lastRead.current = attributes.value;
  return (
    <>
      <ScreenHead
        title="Try it"
        lead="The recommendations of the live deployment for a user, and the user's items that led to them. Changes on this screen are not stored."
      >
        <button
          type="button"
          aria-pressed={isStranger}
          onClick={() => {
            stranger.value = isStranger ? undefined : "{}";
            changes.value = noChanges;
          }}
        >
          {isStranger ? "Choose a user" : "User without events"}
        </button>
      </ScreenHead>
      <div class="try">
        <Card>
          {isStranger ? (
            <AttributesInput
              text={stranger.value ?? ""}
              fault={attributes.fault}
              onText={(text) => (stranger.value = text)}
            />
          ) : (
            <Combo
              kind="user"
              projectId={chosen.id}
              label="User"
              placeholder="Type or choose an id"
              value={userId}
              onPick={(id) => navigate(hrefTo("try", [id]))}
            />
          )}
          <FilterInput text={filter.value} onText={(text) => (filter.value = text)} />
        </Card>
        {(userId && !isStranger) || (isStranger && lastRead.current) ? (
          <Answer
            key={chosen.id}
            projectId={chosen.id}
            userId={isStranger ? undefined : userId}
            attributes={lastRead.current}
            filter={filter.value}
            changes={changes.value}
            onChange={(next) => (changes.value = next)}
          />
        ) : (
          <Card class="answer">
            <Empty title={isStranger ? "Enter attributes" : "Choose a user"}>
              <p>
                {isStranger
                  ? "If the model learned from attributes, it can recommend to users without events."
                  : "You will see the recommendations and the reasons for them."}
              </p>
            </Empty>
          </Card>
        )}
      </div>
    </>
  );
}

function Answer({
  projectId,
  userId,
  attributes,
  filter,
  changes,
  onChange,
}: {
  projectId: string;
  userId: string | undefined;
  attributes: Record<string, unknown> | undefined;
  filter: string;
  changes: Changes;
  onChange: (next: Changes) => void;
}) {
  const isChanged = changes.add.length > 0 || changes.remove.length > 0;
  const ask = (with_: Changes) => (signal: AbortSignal) =>
    postJson<TryResponse>(
      "console/api/try",
      { projectId, userId, attributes, ...(filter && { filterQuery: filter }), ...with_ },
      signal,
    );
  const key = JSON.stringify([attributes, filter]);
  const now = useLoad(ask(changes), [projectId, userId, key, JSON.stringify(changes)]);
  const before = useLoad(isChanged ? ask(noChanges) : async () => undefined, [
    projectId,
    userId,
    key,
    isChanged,
  ]);
  const { loaded } = now;
  const answer = loaded.state === "failed" ? undefined : loaded.value;
  return (
    <>
      <div class="answer stack">
        <Load of={now} lines={10}>
          {({ items, basis, ms, labelledBy, rankedBy }) => (
            <Card title="Recommended" aside={`${bases[basis]}, in ${formatDuration(ms)}`}>
              {rankedBy !== null && items.length > 0 && (
                <p class="muted">
                  The <a href={hrefTo("models", [rankedBy])}>ranker</a> ordered these items. Scores and
                  reasons come from the generator, so the item with the highest score may not come first.
                </p>
              )}
              {items.length === 0 ? (
                <Empty title="Nothing left to recommend">
                  <p>
                    {filter
                      ? "No item matches the filter, or the user already has all that do."
                      : "The user already has every item that the model knows."}
                  </p>
                </Empty>
              ) : (
                <Ranked items={items} before={before.loaded.value?.items} labelledBy={labelledBy} />
              )}
            </Card>
          )}
        </Load>
      </div>
      {answer && (
        <div class="what-if">
          <WhatIf answer={answer} projectId={projectId} changes={changes} onChange={onChange} />
        </div>
      )}
      <div class="as-code">
        {userId === undefined ? (
          <NewUserCode answer={answer} attributes={attributes ?? {}} />
        ) : (
          <Code projectId={projectId} userId={userId} filter={filter} isChanged={isChanged} />
        )}
      </div>
    </>
  );
}

const bases: Readonly<Record<TryResponse["basis"], string>> = {
  events: "from the user's events",
  training: "from the trained user vector",
  attributes: "from attributes",
  popularity: "unknown user: popular items",
};

function Code({
  projectId,
  userId,
  filter,
  isChanged,
}: {
  projectId: string;
  userId: string;
  filter: string;
  isChanged: boolean;
}) {
  const url = serviceUrl();
  const servingUri = `${url}/serving/${projectId}`;
  const asStored = isChanged
    ? "The API cannot apply what-if changes. This requests recommendations for the stored user."
    : "Requests the same recommendations.";
  return (
    <AsCode
      projectId={projectId}
      notes={{ program: asStored, CLI: asStored, curl: asStored }}
      texts={{
        ...invocation("forUser", "recommend", {
          userId,
          limit: 10,
          ...(filter && { filterQuery: filter }),
          servingUri,
        }),
        CLI: command(
          "recommend",
          {
            ...serviceOptions(projectId),
            limit: 10,
            ...(filter && { filter }),
            "serving-uri": servingUri,
          },
          userId,
        ),
        curl: curl(url, `/serving/${projectId}/recommend-items-to-user`, {
          user_id: userId,
          limit: 10,
          ...(filter && { filter_query: filter }),
        }),
      }}
    />
  );
}

function NewUserCode({
  answer,
  attributes,
}: {
  answer: TryResponse | undefined;
  attributes: Record<string, unknown>;
}) {
  if (!answer) return null;
  const users = [{ user_id: "new-user", attributes }];
  return (
    <AsCode
      notes={{ curl: "The API recommends only to stored users. This stores a user with these attributes." }}
      texts={{
        curl: curl(serviceUrl(), "/upsert-dataset-users", { user_dataset_id: answer.userDatasetId, users }),
      }}
    />
  );
}
