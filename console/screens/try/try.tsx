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
import { Ranked } from "./ranked";
import { type Changes, noChanges, WhatIf } from "./what-if";

/** Recommendations for a user, or for someone known only by attributes, with reasons and what-if changes. */
export function Screen() {
  const chosen = selectedProject.value;
  const [userId = ""] = route.value.rest;
  const changes = useSignal<Changes>(noChanges);
  const stranger = useSignal<string | undefined>(undefined);
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
  const attributes = parsed(stranger.value);
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
        </Card>
        {(userId && !isStranger) || (isStranger && lastRead.current) ? (
          <Answer
            key={chosen.id}
            projectId={chosen.id}
            userId={isStranger ? undefined : userId}
            attributes={lastRead.current}
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

function parsed(text: string | undefined): { value?: Record<string, unknown>; fault?: string } {
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
    return { fault: 'Enter an object, for example {"country": "FR"}.' };
  } catch {
    return { fault: 'Not valid JSON yet. Enter an object, for example {"country": "FR"}.' };
  }
}

function AttributesInput({
  text,
  fault,
  onText,
}: {
  text: string;
  fault: string | undefined;
  onText: (text: string) => void;
}) {
  return (
    <div class="field stack">
      <label for="stranger">Attributes of a user without events, as JSON</label>
      <textarea
        id="stranger"
        rows={4}
        spellcheck={false}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {fault && (
        <p class="muted" role="status">
          {fault}
        </p>
      )}
    </div>
  );
}

function Answer({
  projectId,
  userId,
  attributes,
  changes,
  onChange,
}: {
  projectId: string;
  userId: string | undefined;
  attributes: Record<string, unknown> | undefined;
  changes: Changes;
  onChange: (next: Changes) => void;
}) {
  const isChanged = changes.add.length > 0 || changes.remove.length > 0;
  const ask = (with_: Changes) => (signal: AbortSignal) =>
    postJson<TryResponse>("console/api/try", { projectId, userId, attributes, ...with_ }, signal);
  const key = JSON.stringify(attributes);
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
                  <p>The user already has every item that the model knows.</p>
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
          <Code projectId={projectId} userId={userId} isChanged={isChanged} />
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

function Code({ projectId, userId, isChanged }: { projectId: string; userId: string; isChanged: boolean }) {
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
        ...invocation("forUser", "recommend", { userId, limit: 10, servingUri }),
        CLI: command(
          "recommend",
          { ...serviceOptions(projectId), limit: 10, "serving-uri": servingUri },
          userId,
        ),
        curl: curl(url, `/serving/${projectId}/recommend-items-to-user`, { user_id: userId, limit: 10 }),
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
