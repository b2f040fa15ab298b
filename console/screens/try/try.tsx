import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { TryAnswer } from "../../../service/console/answers";
import { lasting } from "../../format";
import { AsCode, ofService, serviceUrl } from "../../parts/as-code";
import { Card, Name } from "../../parts/basics";
import { command, curl, invoked } from "../../parts/code";
import { Combo } from "../../parts/combo";
import { Empty, Load, useLoad } from "../../parts/load";
import { ScreenHead } from "../../parts/screen";
import { go, place, project, to } from "../../router";
import { send } from "../../session";
import { Ranked } from "./ranked";
import { type Changes, none, Own } from "./what-if";

/** Recommendations for a user or a stranger, why they come, and what would change them. */
export function Screen() {
  const chosen = project.value;
  const [userId = ""] = place.value.rest;
  const changes = useSignal<Changes>(none);
  const stranger = useSignal<string | undefined>(undefined);
  const lastRead = useRef<Record<string, unknown>>(undefined);
  useEffect(() => {
    changes.value = none;
  }, [userId, chosen?.id]);
  if (!chosen)
    return (
      <>
        <ScreenHead title="Try it" />
        <Card>
          <Empty title="There is no project yet">
            <p>Once a project serves, this screen asks it for recommendations.</p>
          </Empty>
        </Card>
      </>
    );
  if (!chosen.isDeployed)
    return (
      <>
        <ScreenHead title="Try it" />
        <Card>
          <Empty title="The project does not serve">
            <p>
              A Deployment of a program puts a trained model of <Name>{chosen.name}</Name> into service.
            </p>
          </Empty>
        </Card>
      </>
    );
  const isStranger = stranger.value !== undefined;
  const attributes = parsed(stranger.value);
  // While it is being typed, the last that could be read stays.
  if (attributes.value || !isStranger) lastRead.current = attributes.value;
  return (
    <>
      <ScreenHead
        title="Try it"
        lead="Recommendations for a user as the deployment gives them, and the user's own items that led there. Nothing you change here is stored."
      >
        <button
          type="button"
          aria-pressed={isStranger}
          onClick={() => {
            stranger.value = isStranger ? undefined : "{}";
            changes.value = none;
          }}
        >
          {isStranger ? "Back to a user" : "A user without events"}
        </button>
      </ScreenHead>
      <div class="try">
        <Card>
          {isStranger ? (
            <Stranger
              text={stranger.value ?? ""}
              fault={attributes.fault}
              onText={(text) => (stranger.value = text)}
            />
          ) : (
            <Combo
              kind="user"
              projectId={chosen.id}
              label="User"
              placeholder="Type an id, or choose one"
              value={userId}
              onPick={(id) => go(to("try", [id]))}
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
            <Empty title={isStranger ? "Give some attributes" : "Choose a user"}>
              <p>
                {isStranger
                  ? "A model that has learned from attributes places somebody by them alone."
                  : "You see what the model would recommend, and why."}
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
    return { fault: 'Give an object, as in {"country": "FR"}.' };
  } catch {
    return { fault: 'This is not JSON yet; give an object, as in {"country": "FR"}.' };
  }
}

function Stranger({
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
      <label for="stranger">Attributes of somebody without events, as JSON</label>
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
    send<TryAnswer>("console/api/try", { projectId, userId, attributes, ...with_ }, signal);
  const key = JSON.stringify(attributes);
  const now = useLoad(ask(changes), [projectId, userId, key, JSON.stringify(changes)]);
  const before = useLoad(isChanged ? ask(none) : async () => undefined, [projectId, userId, key, isChanged]);
  const { loaded } = now;
  const answer = loaded.state === "failed" ? undefined : loaded.value;
  return (
    <>
      <div class="answer stack">
        <Load of={now} lines={10}>
          {({ items, basis, ms, labelledBy, rankedBy }) => (
            <Card title="Recommended" aside={`${bases[basis]}, in ${lasting(ms)}`}>
              {rankedBy !== null && items.length > 0 && (
                <p class="muted">
                  The <a href={to("models", [rankedBy])}>ranker</a> put these in order. Scores and reasons are
                  those of the generator, which found them, so the highest score need not come first.
                </p>
              )}
              {items.length === 0 ? (
                <Empty title="Nothing is left to recommend">
                  <p>The user has had every item that the model knows.</p>
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
          <Own answer={answer} projectId={projectId} changes={changes} onChange={onChange} />
        </div>
      )}
      <div class="as-code">
        {userId === undefined ? (
          <StrangerCode answer={answer} attributes={attributes ?? {}} />
        ) : (
          <Code projectId={projectId} userId={userId} isChanged={isChanged} />
        )}
      </div>
    </>
  );
}

const bases: Readonly<Record<TryAnswer["basis"], string>> = {
  events: "from the user's events",
  training: "from what the training learned",
  attributes: "from attributes",
  popularity: "nothing is known about this user: popular items",
};

function Code({ projectId, userId, isChanged }: { projectId: string; userId: string; isChanged: boolean }) {
  const url = serviceUrl();
  const servingUri = `${url}/serving/${projectId}`;
  const asStored = isChanged
    ? "The API has no call for other events: this asks for the user as stored."
    : "Asks for the same recommendations.";
  return (
    <AsCode
      projectId={projectId}
      notes={{ program: asStored, CLI: asStored, curl: asStored }}
      texts={{
        ...invoked("forUser", "recommend", { userId, limit: 10, servingUri }),
        CLI: command("recommend", { ...ofService(projectId), limit: 10, "serving-uri": servingUri }, userId),
        curl: curl(url, `/serving/${projectId}/recommend-items-to-user`, { user_id: userId, limit: 10 }),
      }}
    />
  );
}

function StrangerCode({
  answer,
  attributes,
}: {
  answer: TryAnswer | undefined;
  attributes: Record<string, unknown>;
}) {
  if (!answer) return null;
  const users = [{ user_id: "new-user", attributes }];
  return (
    <AsCode
      notes={{ curl: "The API recommends to stored users alone: this stores one who has these attributes." }}
      texts={{
        curl: curl(serviceUrl(), "/upsert-dataset-users", { user_dataset_id: answer.userDatasetId, users }),
      }}
    />
  );
}
