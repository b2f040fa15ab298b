import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { AskingAnswer, ProjectChoice } from "../../../service/console/answers";
import { AsCode } from "../../parts/as-code";
import { Card, Name } from "../../parts/basics";
import { Load, useLoad } from "../../parts/load";
import { go, to } from "../../router";
import { Refused, send, signedIn, view } from "../../session";
import { asksTheSame, kinds, pathOf, type Question, questionCode, wireOf } from "./question";

/** A form that asks a model, after it has said what that does. */
export function Ask({ chosen }: { chosen: ProjectChoice }) {
  const asking = useLoad<AskingAnswer>(
    (signal) => view("asking", { project: chosen.id }, signal),
    [chosen.id],
  );
  return (
    <Load of={asking} lines={3}>
      {(about) =>
        about.models.length === 0 ? (
          <p class="note">
            <strong>There is no model to ask yet.</strong> Once one is trained, questions about its users can
            be asked here.
          </p>
        ) : (
          <Form chosen={chosen} about={about} />
        )
      }
    </Load>
  );
}

function Form({ chosen, about }: { chosen: ProjectChoice; about: AskingAnswer }) {
  const id = useId();
  const [first] = about.attributes.filter(({ values }) => values.length > 0);
  const question = useSignal<Question>({
    projectId: chosen.id,
    modelId: (about.models.find(({ isServing }) => isServing) ?? about.models[0])?.id ?? "",
    kind: "distribution",
    attribute: first?.name ?? "",
    value: first?.values[0]?.value ?? "",
    least: "0.5",
    minUsers: "1",
  });
  const isSure = useSignal(false);
  const refused = useSignal<string | undefined>(undefined);
  const asked = question.value;
  const set = (more: Partial<Question>) => {
    question.value = { ...asked, ...more };
    isSure.value = false;
  };
  const now = signedIn.value;
  const path = pathOf(asked);
  const isAllowed = now.state === "in" && now.session.scopes.includes(path);
  const values = about.attributes.find(({ name }) => name === asked.attribute)?.values ?? [];
  const isWhole = asked.kind === "groups" ? Number(asked.minUsers) >= 1 : asked.attribute !== "";
  const submit = async () => {
    isSure.value = false;
    refused.value = undefined;
    try {
      const { job_id } = await send<{ job_id: string }>(path, wireOf(asked));
      go(to("questions", [job_id]));
    } catch (error) {
      refused.value = error instanceof Refused ? error.message : String(error);
    }
  };
  const field = (name: keyof Question, label: string, more: object = {}) => (
    <label class="field">
      <span>{label}</span>
      <input value={asked[name]} onInput={(event) => set({ [name]: event.currentTarget.value })} {...more} />
    </label>
  );
  return (
    <Card title="Ask">
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          isSure.value = isAllowed && isWhole;
        }}
      >
        <label class="field">
          <span>Question</span>
          <select
            value={asked.kind}
            onChange={(event) => set({ kind: event.currentTarget.value as Question["kind"] })}
          >
            {Object.entries(kinds).map(([kind, words]) => (
              <option key={kind} value={kind}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Model</span>
          <select value={asked.modelId} onChange={(event) => set({ modelId: event.currentTarget.value })}>
            {about.models.map((model) => (
              <option key={model.id} value={model.id}>
                {model.name.slice(0, 60)}
                {model.isServing ? " (serves)" : ""}
              </option>
            ))}
          </select>
        </label>
        {asked.kind === "groups" ? (
          field("minUsers", "Minimum users in a group", { type: "number", min: 1 })
        ) : (
          <>
            {field("attribute", "Item attribute", { list: `${id}-names`, required: true })}
            {field("value", "Value", { list: `${id}-values` })}
            <datalist id={`${id}-names`}>
              {about.attributes.map(({ name }) => (
                <option key={name} value={name} />
              ))}
            </datalist>
            <datalist id={`${id}-values`}>
              {values.map(({ value }) => (
                <option key={value} value={value} />
              ))}
            </datalist>
            {asked.kind === "list" &&
              field("least", "Minimum share of usage, 0 to 1", {
                type: "number",
                min: 0,
                max: 1,
                step: "any",
              })}
          </>
        )}
        <div class="go">
          <button type="submit" class="primary" disabled={!isAllowed || !isWhole}>
            Ask
          </button>
        </div>
      </form>
      {!isAllowed && (
        <p class="note">
          <strong>This session may not ask.</strong> It has no scope <code>{path}</code>; whoever runs the
          service allows it with <code>recommender clients update</code>. The text below does the same.
        </p>
      )}
      {isSure.value && (
        <div class="note warn" role="alertdialog" aria-label="Ask this?">
          <strong>
            This starts a job in <Name>{chosen.name}</Name>.
          </strong>
          <p>
            It reads the model and writes an answer that is kept for a day. No dataset and no model changes.
          </p>
          <p class="buttons">
            <button type="button" class="primary" onClick={() => void submit()}>
              Start the job
            </button>{" "}
            <button type="button" onClick={() => (isSure.value = false)}>
              Do not
            </button>
          </p>
        </div>
      )}
      {refused.value !== undefined && (
        <p class="note bad" role="alert">
          <strong>It was refused.</strong> <bdi>{refused.value.slice(0, 1000)}</bdi>
        </p>
      )}
      <AsCode texts={questionCode(asked)} notes={asksTheSame} projectId={asked.projectId} />
    </Card>
  );
}
