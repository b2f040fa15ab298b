import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { AskingResponse, ProjectChoice } from "../../../service/console/responses";
import { AsCode } from "../../parts/as-code";
import { Card, Name, Options } from "../../parts/basics";
import { Load, useLoad } from "../../parts/load";
import { hrefTo, navigate } from "../../router";
import { fetchView, postJson, RequestError, signInState } from "../../session";
import {
  codeNotes,
  type Question,
  questionCode,
  questionKinds,
  requestBodyOf,
  submitPathOf,
} from "./question";

/** A form that submits a question about a model's users, after a confirmation. */
export function Ask({ chosen }: { chosen: ProjectChoice }) {
  const asking = useLoad<AskingResponse>(
    (signal) => fetchView("asking", { project: chosen.id }, signal),
    [chosen.id],
  );
  return (
    <Load of={asking} lines={3}>
      {(about) =>
        about.models.length === 0 ? (
          <p class="note">
            <strong>No model yet.</strong> When a model is trained, you can ask questions about its users
            here.
          </p>
        ) : (
          <Form chosen={chosen} about={about} />
        )
      }
    </Load>
  );
}

function Form({ chosen, about }: { chosen: ProjectChoice; about: AskingResponse }) {
  const id = useId();
  const [first] = about.attributes.filter(({ values }) => values.length > 0);
  const question = useSignal<Question>({
    projectId: chosen.id,
    modelId: (about.models.find(({ isLive }) => isLive) ?? about.models[0])?.id ?? "",
    kind: "distribution",
    attribute: first?.name ?? "",
    value: first?.values[0]?.value ?? "",
    minShare: "0.5",
    minUsers: "1",
  });
  const isConfirming = useSignal(false);
  const failure = useSignal<string | undefined>(undefined);
  const asked = question.value;
  const set = (more: Partial<Question>) => {
    question.value = { ...asked, ...more };
    isConfirming.value = false;
  };
  const now = signInState.value;
  const path = submitPathOf(asked);
  const isAllowed = now.state === "in" && now.session.scopes.includes(path);
  const values = about.attributes.find(({ name }) => name === asked.attribute)?.values ?? [];
  const isComplete = asked.kind === "groups" ? Number(asked.minUsers) >= 1 : asked.attribute !== "";
  const models = Object.fromEntries(
    about.models.map(({ id, name, isLive }) => [id, `${name.slice(0, 60)}${isLive ? " (live)" : ""}`]),
  );
  const submit = async () => {
    isConfirming.value = false;
    failure.value = undefined;
    try {
      const { job_id } = await postJson<{ job_id: string }>(path, requestBodyOf(asked));
      navigate(hrefTo("questions", [job_id]));
    } catch (error) {
      failure.value = error instanceof RequestError ? error.message : String(error);
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
          isConfirming.value = isAllowed && isComplete;
        }}
      >
        <label class="field">
          <span>Question</span>
          <select
            value={asked.kind}
            onChange={(event) => set({ kind: event.currentTarget.value as Question["kind"] })}
          >
            <Options of={questionKinds} />
          </select>
        </label>
        <label class="field">
          <span>Model</span>
          <select value={asked.modelId} onChange={(event) => set({ modelId: event.currentTarget.value })}>
            <Options of={models} />
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
              field("minShare", "Minimum share of usage, 0 to 1", {
                type: "number",
                min: 0,
                max: 1,
                step: "any",
              })}
          </>
        )}
        <div class="go">
          <button type="submit" class="primary" disabled={!isAllowed || !isComplete}>
            Ask
          </button>
        </div>
      </form>
      {!isAllowed && (
        <p class="note">
          <strong>This session cannot ask questions.</strong> It lacks the scope <code>{path}</code>. An
          operator of the service can add it with <code>recommender clients update</code>. You can also run
          the code below with other credentials.
        </p>
      )}
      {isConfirming.value && (
        <div class="note warn" role="alertdialog" aria-label="Ask this?">
          <strong>
            Start a job in <Name>{chosen.name}</Name>?
          </strong>
          <p>It reads the model and stores the answer for a day. It does not change datasets or models.</p>
          <p class="buttons">
            <button type="button" class="primary" onClick={() => void submit()}>
              Start job
            </button>{" "}
            <button type="button" onClick={() => (isConfirming.value = false)}>
              Cancel
            </button>
          </p>
        </div>
      )}
      {failure.value !== undefined && (
        <p class="note bad" role="alert">
          <strong>The service rejected the question.</strong> <bdi>{failure.value.slice(0, 1000)}</bdi>
        </p>
      )}
      <AsCode texts={questionCode(asked)} notes={codeNotes} projectId={asked.projectId} />
    </Card>
  );
}
