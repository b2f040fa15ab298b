/** Parses the attributes of a user without events. */
export function parsedAttributes(text: string | undefined): {
  value?: Record<string, unknown>;
  fault?: string;
} {
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

/** Field for the attributes of a user without events. */
export function AttributesInput({
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

/** Field for a filter. It takes effect when the user leaves the field or presses Enter, because a half-written one is invalid. */
export function FilterInput({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <div class="field stack">
      <label for="filter">Filter</label>
      <input
        id="filter"
        type="text"
        spellcheck={false}
        autocomplete="off"
        placeholder={'item.in_stock == "yes" && item.price < 20.0'}
        value={text}
        onChange={(event) => onText(event.currentTarget.value.trim())}
      />
    </div>
  );
}
