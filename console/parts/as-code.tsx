import { useSignal } from "@preact/signals";
import { addressOf, signedIn } from "../session";
import { Block, Copy } from "./basics";
import type { Texts } from "./code";

/** What would declare or do this, in the languages that there are. */
export function AsCode({ texts, note }: { texts: Texts; note?: string }) {
  const names = Object.keys(texts) as (keyof Texts)[];
  const chosen = useSignal<keyof Texts>(names[0] ?? "CLI");
  const now = names.includes(chosen.value) ? chosen.value : (names[0] as keyof Texts);
  const text = texts[now] ?? "";
  return (
    <details class="code">
      <summary>As code</summary>
      {note && <p class="muted">{note}</p>}
      <div class="tabs">
        {names.map((name) => (
          <button key={name} type="button" aria-pressed={name === now} onClick={() => (chosen.value = name)}>
            {name}
          </button>
        ))}
        <Copy text={text} />
      </div>
      <Block label={`${now} text`} text={text} />
    </details>
  );
}

/** The address that others reach the service at. */
export function serviceUrl(): string {
  const now = signedIn.value;
  return now.state === "in" ? now.session.service.url : addressOf("").replace(/\/$/, "");
}
