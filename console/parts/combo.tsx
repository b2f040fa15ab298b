import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Suggestion } from "../../service/console/responses";
import { displayValue } from "../format";
import { fetchView, RequestError } from "../session";

/** An input for the id of a user or an item, with suggestions from the service. */
export function Combo({
  kind,
  projectId,
  label,
  value,
  placeholder,
  addMode,
  onPick,
}: {
  kind: "user" | "item";
  projectId: string;
  label: string;
  value: string;
  placeholder?: string;
  /**
   * Set this if picked ids go into a list: the input is then cleared after each pick. With `stored`, only existing ids
   * can be picked.
   */
  addMode?: "stored" | "any";
  onPick: (id: string) => void;
}) {
  const id = useId();
  const text = useSignal(value);
  const found = useSignal<readonly Suggestion[]>([]);
  const isOpen = useSignal(false);
  const at = useSignal(-1);
  const message = useSignal("");
  const asked = useRef<AbortController>(undefined);
  useEffect(() => {
    text.value = value;
  }, [value, text]);

  const suggestions = (typed: string, signal?: AbortSignal) =>
    fetchView<Suggestion[]>("suggest", { project: projectId, kind, text: typed }, signal);
  const failed = (error: unknown) => {
    if (error instanceof RequestError) message.value = `No suggestions: ${error.message}`;
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
    text.value = addMode ? "" : chosen;
    message.value = "";
    onPick(chosen);
  };
  const enter = async () => {
    const typed = text.value.trim();
    const marked = found.value[at.value]?.id;
    if (marked !== undefined || addMode !== "stored" || !typed) return pick(marked ?? text.value);
    const rows = await suggestions(typed).catch(failed);
    if (!rows) return;
    const known =
      rows.find(({ id }) => id === typed) ?? onlyOne(rows.filter(hasAttributeText(typed))) ?? onlyOne(rows);
    if (known) pick(known.id);
    else message.value = rows.length > 0 ? `Several ${kind}s match. Choose one.` : `No such ${kind}.`;
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
          message.value = "";
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
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus and names the active option.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
          <div
            key={row.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(row.id)}
          >
            <bdi class="id">{displayValue(row.id)}</bdi>
            <span class="muted">
              {Object.values(row.attributes).slice(0, 3).map(displayValue).join(" · ")}
            </span>
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {message.value}
      </p>
    </div>
  );
}

const onlyOne = <T,>(rows: readonly T[]): T | undefined => (rows.length === 1 ? rows[0] : undefined);

/** Returns a function that checks whether a record has the typed text as an attribute value, ignoring case. */
const hasAttributeText =
  (typed: string) =>
  ({ attributes }: Suggestion): boolean =>
    Object.values(attributes).some((value) => String(value).toLowerCase() === typed.toLowerCase());
