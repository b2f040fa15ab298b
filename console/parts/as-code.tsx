import { useSignal } from "@preact/signals";
import { Block, Copy } from "./basics";

/** What would declare or do the same as a screen shows, by language. */
export type Texts = Readonly<Partial<Record<"TypeScript" | "Python" | "YAML" | "CLI" | "curl", string>>>;

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

/** A name as a variable of a program. */
export function variable(name: string): string {
  const words = name.normalize("NFKD").match(/[A-Za-z0-9]+/g) ?? [];
  const [first = "thing", ...rest] = words.slice(0, 4);
  const joined = first.toLowerCase() + rest.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return /^\d/.test(joined) ? `n${joined}` : joined.slice(0, 40);
}

/** A text as a program writes it. */
export const quoted = (text: string): string => JSON.stringify(text);

/** A text as a shell takes it for one word. */
export const word = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The call that curl makes; the key comes from the environment, and is never shown. */
export function curl(url: string, path: string, body?: unknown): string {
  const token = `TOKEN=$(curl -s ${word(`${url}/oauth/token`)} -d grant_type=client_credentials \\
  -d client_id=me -d client_secret="$RECOMMENDER_API_KEY" -d scope=${word(scopeOf(path))} | jq -r .access_token)`;
  const data =
    body === undefined ? "" : ` \\\n  -H 'Content-Type: application/json' -d ${word(JSON.stringify(body))}`;
  return `${token}\ncurl ${word(url + path)} -H "APIKey: $RECOMMENDER_API_KEY" -H "Authorization: Bearer $TOKEN"${data}`;
}

const scopeOf = (path: string) => `/${path.split("?")[0]?.split("/").at(-1) ?? ""}`;
