import { useSignal } from "@preact/signals";
import type { Origin } from "../../service/console/responses";
import { liveStatus } from "../live";
import { signInState, urlOf } from "../session";
import { Block, Copy } from "./basics";
import { type CodeSamples, command, shellWord } from "./code";

/** Notes on what the samples do, for programs, the CLI and curl. */
type Notes = Readonly<Partial<Record<"program" | "CLI" | "curl", string>>>;

/** Shows code that declares or does what the screen shows, with a tab for each language in `texts`. */
export function AsCode({
  texts,
  notes = {},
  projectId,
}: {
  texts: CodeSamples;
  notes?: Notes;
  /**
   * Project whose latest job decides which Pulumi project the note on the command mentions. Default: the latest job of
   * any project decides.
   */
  projectId?: string | undefined;
}) {
  const names = Object.keys(texts) as (keyof CodeSamples)[];
  const chosen = useSignal<keyof CodeSamples>(names[0] ?? "CLI");
  const now = names.includes(chosen.value) ? chosen.value : (names[0] as keyof CodeSamples);
  const text = completeFile(now, texts[now] ?? "");
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
          <AboutCommands of={lastOrigin(projectId)} />
        ) : now === "curl" ? (
          <AboutKeys />
        ) : (
          "Add it to a Pulumi program. docs/configuration.md explains how to connect a program to a service."
        )}
      </p>
      <Block label={`${now} text`} text={text} />
    </details>
  );
}

/** Adds the import or the `resources:` heading that makes a sample a complete file. */
function completeFile(language: keyof CodeSamples, text: string): string {
  if (language === "TypeScript") return `import * as recommender from "pulumi-recommender";\n\n${text}`;
  if (language === "Python") return `import pulumi_recommender as recommender\n\n${text}`;
  if (language !== "YAML" || text.startsWith("variables:")) return text;
  return text ? `resources:\n${text}` : "resources: {}";
}

function AboutCommands({ of }: { of: Origin | undefined }) {
  if (of)
    return (
      <>
        Run it with npx in the directory of the Pulumi project <bdi>{of.project}</bdi>. In a clone of
        pulumi-recommender, write <code>npm run recommender --</code> instead of <code>recommender</code>.
      </>
    );
  if (dataDirectory() !== undefined) return "Run it with npx on the machine of the service.";
  return "Run it with npx. It reads credentials from the environment; see docs/configuration.md.";
}

function AboutKeys() {
  const place = dataDirectory();
  if (place === undefined) return "Set RECOMMENDER_API_KEY to the API key of the service.";
  return (
    <>
      The API key is in the data directory of the service:{" "}
      <code>{`RECOMMENDER_API_KEY="$(cat ${shellWord(`${place}/key`)})"`}</code>
    </>
  );
}

/** Returns the stack that submitted the latest job, in one project or in any project. */
function lastOrigin(projectId: string | undefined): Origin | undefined {
  const jobs = liveStatus.value?.jobs ?? [];
  const from = jobs.find((job) => job.origin && (projectId === undefined || job.projectId === projectId));
  return from?.origin ?? undefined;
}

/** Returns the service's data directory, if it has one and runs on the same machine as the browser. */
function dataDirectory(): string | undefined {
  const now = signInState.value;
  if (now.state !== "in") return undefined;
  const { url, place } = now.session.service;
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
  return isHere && !place.includes("://") ? place : undefined;
}

/** Returns the CLI options that select this service. */
export function serviceOptions(
  projectId?: string,
): { readonly stack: string } | { readonly service: string } {
  const origin = lastOrigin(projectId);
  if (origin) return { stack: origin.stack };
  const place = dataDirectory();
  return { service: place === undefined ? serviceUrl() : `embedded:${place}` };
}

/** Returns commands that list the contents of the service. */
export function statusCommands(): string {
  const [place, of] = [dataDirectory(), serviceOptions()];
  return [
    ...(place === undefined ? [] : [command("status", { data: place })]),
    command("datasets list", of),
    ...("stack" in of ? [command("drift", of)] : []),
  ].join("\n");
}

/** Returns the public URL of the service. */
export function serviceUrl(): string {
  const now = signInState.value;
  return now.state === "in" ? now.session.service.url : urlOf("").replace(/\/$/, "");
}
