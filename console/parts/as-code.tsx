import { useSignal } from "@preact/signals";
import type { Origin } from "../../service/console/answers";
import { latest } from "../live";
import { addressOf, signedIn } from "../session";
import { Block, Copy } from "./basics";
import { command, type Texts, word } from "./code";

/** What a text does, where the language says something else than a program. */
type Notes = Readonly<Partial<Record<"program" | "CLI" | "curl", string>>>;

/** What would declare or do this, in the languages that there are. */
export function AsCode({
  texts,
  notes = {},
  projectId,
}: {
  texts: Texts;
  notes?: Notes;
  /** The project that the command is about. */
  projectId?: string | undefined;
}) {
  const names = Object.keys(texts) as (keyof Texts)[];
  const chosen = useSignal<keyof Texts>(names[0] ?? "CLI");
  const now = names.includes(chosen.value) ? chosen.value : (names[0] as keyof Texts);
  const text = whole(now, texts[now] ?? "");
  return (
    <details class="code">
      <summary>As code</summary>
      <div class="tabs">
        {names.map((name) => (
          <button key={name} type="button" aria-pressed={name === now} onClick={() => (chosen.value = name)}>
            {name}
          </button>
        ))}
        <Copy text={text} />
      </div>
      <p class="muted">
        {notes[now === "CLI" || now === "curl" ? now : "program"]}{" "}
        {now === "CLI" ? (
          <AboutCommands of={originOf(projectId)} />
        ) : now === "curl" ? (
          <AboutKeys />
        ) : (
          "It is part of a Pulumi program; docs/configuration.md says how a program is told which service to use."
        )}
      </p>
      <Block label={`${now} text`} text={text} />
    </details>
  );
}

/** A text as a file may begin with it. */
function whole(language: keyof Texts, text: string): string {
  if (language === "TypeScript") return `import * as recommender from "pulumi-recommender";\n\n${text}`;
  if (language === "Python") return `import pulumi_recommender as recommender\n\n${text}`;
  if (language !== "YAML" || text.startsWith("variables:")) return text;
  return text ? `resources:\n${text}` : "resources: {}";
}

function AboutCommands({ of }: { of: Origin | undefined }) {
  if (of)
    return (
      <>
        Run it with npx in the folder of the Pulumi project <bdi>{of.project}</bdi>; in a clone of
        pulumi-recommender put <code>npm run recommender --</code> in place of <code>recommender</code>.
      </>
    );
  if (folder() !== undefined) return "Run it with npx on the machine of the service.";
  return "Run it with npx. It takes credentials from the environment, as docs/configuration.md says.";
}

function AboutKeys() {
  const place = folder();
  if (place === undefined) return "RECOMMENDER_API_KEY is the key of the service.";
  return (
    <>
      The key lies in the folder of the service:{" "}
      <code>{`RECOMMENDER_API_KEY="$(cat ${word(`${place}/key`)})"`}</code>
    </>
  );
}

/** The stack that last submitted a job, of a project or at all. */
function originOf(projectId: string | undefined): Origin | undefined {
  const jobs = latest.value?.jobs ?? [];
  const from = jobs.find((job) => job.origin && (projectId === undefined || job.projectId === projectId));
  return from?.origin ?? undefined;
}

/** The folder of the service, where it has one and is on this machine. */
function folder(): string | undefined {
  const now = signedIn.value;
  if (now.state !== "in") return undefined;
  const { url, place } = now.session.service;
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
  return isHere && !place.includes("://") ? place : undefined;
}

/** The options by which a command finds this service, and what belongs to it. */
export function ofService(projectId?: string): { readonly stack: string } | { readonly service: string } {
  const origin = originOf(projectId);
  if (origin) return { stack: origin.stack };
  const place = folder();
  return { service: place === undefined ? serviceUrl() : `embedded:${place}` };
}

/** Commands that tell what the service holds. */
export function statusCommands(): string {
  const [place, of] = [folder(), ofService()];
  return [
    ...(place === undefined ? [] : [command("status", { data: place })]),
    command("datasets list", of),
    ...("stack" in of ? [command("drift", of)] : []),
  ].join("\n");
}

/** The address that others reach the service at. */
export function serviceUrl(): string {
  const now = signedIn.value;
  return now.state === "in" ? now.session.service.url : addressOf("").replace(/\/$/, "");
}
