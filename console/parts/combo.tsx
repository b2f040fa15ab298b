import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Suggestion } from "../../service/console/answers";
import { shown } from "../format";
import { Refused, view } from "../session";

/** A field for the id of a user or an item, with suggestions of the service. */
export function Combo({
  kind,
  projectId,
  label,
  value,
  placeholder,
  adds,
  onPick,
}: {
  kind: "user" | "item";
  projectId: string;
  label: string;
  value: string;
  placeholder?: string;
  /** Set where it adds to a list and is emptied then: only what is stored, or any id. */
  adds?: "stored" | "any";
  onPick: (id: string) => void;
}) {
  const id = useId();
  const text = useSignal(value);
  const found = useSignal<readonly Suggestion[]>([]);
  const isOpen = useSignal(false);
  const at = useSignal(-1);
  const refused = useSignal("");
  const asked = useRef<AbortController>(undefined);
  useEffect(() => {
    text.value = value;
  }, [value, text]);

  const suggestions = (typed: string, signal?: AbortSignal) =>
    view<Suggestion[]>("suggest", { project: projectId, kind, text: typed }, signal);
  const failed = (error: unknown) => {
    if (error instanceof Refused) refused.value = `No suggestions: ${error.message}`;
  };
  const ask = (typed: string) => {
    asked.current?.abort();
    const stop = new AbortController();
    asked.current = stop;
    setTimeout(() => {
      if (stop.signal.aborted) return;
      suggestions(typed, stop.signal).then((rows) => {
        found.value = rows;
        at.value = -1;
      }, failed);
    }, 80);
  };
  const pick = (chosen: string) => {
    asked.current?.abort();
    isOpen.value = false;
    if (!chosen.trim()) return;
    text.value = adds ? "" : chosen;
    refused.value = "";
    onPick(chosen);
  };
  const enter = async () => {
    const typed = text.value.trim();
    const marked = found.value[at.value]?.id;
    if (marked !== undefined || adds !== "stored" || !typed) return pick(marked ?? text.value);
    const rows = await suggestions(typed).catch(failed);
    if (!rows) return;
    const known = rows.find(({ id }) => id === typed) ?? only(rows.filter(isNamed(typed))) ?? only(rows);
    if (known) pick(known.id);
    else
      refused.value = rows.length > 0 ? `Several ${kind}s match: choose one.` : `There is no such ${kind}.`;
  };
  const onKey = (event: KeyboardEvent) => {
    const last = found.value.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      isOpen.value = true;
      const step = event.key === "ArrowDown" ? 1 : -1;
      at.value = Math.max(-1, Math.min(last, at.value + step));
    } else if (event.key === "Enter") void enter();
    else if (event.key === "Escape") isOpen.value = false;
  };
  const isShown = isOpen.value && found.value.length > 0;
  return (
    <div class="combo">
      <label for={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isShown && at.value >= 0 ? `${id}-${at.value}` : undefined}
        autoComplete="off"
        spellcheck={false}
        maxLength={256}
        placeholder={placeholder}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          refused.value = "";
          isOpen.value = true;
          ask(text.value);
        }}
        onFocus={() => {
          isOpen.value = true;
          ask("");
        }}
        onBlur={() => setTimeout(() => (isOpen.value = false), 150)}
        onKeyDown={onKey}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} class="list" hidden={!isShown}>
        {found.value.map((row, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus and names the chosen row.
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the field.
          <div
            key={row.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(row.id)}
          >
            <bdi class="id">{shown(row.id)}</bdi>
            <span class="muted">{Object.values(row.attributes).slice(0, 3).map(shown).join(" · ")}</span>
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {refused.value}
      </p>
    </div>
  );
}

const only = <T,>(rows: readonly T[]): T | undefined => (rows.length === 1 ? rows[0] : undefined);

/** Whether something has a text for one of its attributes, as people type it. */
const isNamed =
  (typed: string) =>
  ({ attributes }: Suggestion): boolean =>
    Object.values(attributes).some((value) => String(value).toLowerCase() === typed.toLowerCase());
