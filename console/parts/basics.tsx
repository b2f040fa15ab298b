import { type Signal, signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Origin } from "../../service/console/responses";
import { capitalize, formatExactTime, formatRelativeTime, truncate } from "../format";

/** The current time. Relative times read this signal, so they update every 10 s. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

/** A relative time. The exact time appears on hover and in the `dateTime` attribute. */
export function Time({ ts }: { ts: number | null | undefined }) {
  if (ts == null) return <span class="muted">–</span>;
  if (Number.isNaN(new Date(ts).getTime())) return <span>{ts} ms</span>;
  return (
    <time dateTime={new Date(ts).toISOString()} title={formatExactTime(ts)}>
      {formatRelativeTime(ts, Math.max(now.value, Date.now()))}
    </time>
  );
}

/** A section of a screen. */
export function Card({
  title,
  aside,
  children,
  class: more = "",
}: {
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}) {
  return (
    <section class={`card ${more}`} aria-label={title}>
      {(title || aside) && (
        <header>
          {title && <h2>{title}</h2>}
          {aside && <div class="aside">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

/** A user-provided name. It is isolated, so right-to-left text does not affect its surroundings, and shortened. */
export function Name({ children, href }: { children: string; href?: string }) {
  const name = (
    <bdi class="name" title={children.length > 60 ? truncate(children, 1000) : undefined}>
      {truncate(children)}
    </bdi>
  );
  return href ? <a href={href}>{name}</a> : name;
}

/** An id, optionally as a link. */
export function Id({ children, href, onClick }: { children: string; href?: string; onClick?: () => void }) {
  const text = <bdi>{truncate(children, 60)}</bdi>;
  return href ? (
    <a class="id" href={href} onClick={onClick}>
      {text}
    </a>
  ) : (
    <span class="id">{text}</span>
  );
}

/** Shows what distinguishes objects with the same name: the id and, if known, the release that created the object. */
export function IdAndRelease({ id, origin }: { id: string; origin: Origin | null }) {
  return (
    <div class="id-and-release">
      <Id>{id}</Id>
      {origin?.release && (
        <span>
          release <bdi>{truncate(origin.release, 60)}</bdi>
        </span>
      )}
    </div>
  );
}

/** The display names of job states. */
export const states: Readonly<Record<string, string>> = {
  PENDING: "pending",
  RUNNING: "running",
  SUCCEED: "succeeded",
  FAILED: "failed",
};

/** The state of a job, as a word with a colour. */
export function State({ of }: { of: string }) {
  return (
    <span class={`state ${of.toLowerCase()}`}>
      <i aria-hidden="true" />
      {states[of] ?? capitalize(of)}
    </span>
  );
}

/** A bar that shows `value` as a share of `of`. */
export function Meter({
  value,
  of,
  label,
  tone = "",
}: {
  value: number;
  of: number;
  label: string;
  tone?: string;
}) {
  const share = of > 0 ? Math.min(1, Math.max(0, value / of)) : 0;
  return (
    <span class={`meter ${tone}`} role="img" aria-label={label} title={label}>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** A named figure, for example in a list of metrics. */
export function Figure({
  name,
  children,
  hint,
}: {
  name: string;
  children: ComponentChildren;
  hint?: string;
}) {
  return (
    <div class="figure" title={hint}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The stack, the resource and the release that created an object, if known. */
export function OriginFigure({ name, of }: { name: string; of: Origin | null }) {
  if (!of) return null;
  return (
    <Figure name={name}>
      <Name>{stackName(of)}</Name>{" "}
      <small>
        resource <bdi>{truncate(of.resource)}</bdi>
        {of.release && `, release ${truncate(of.release)}`}
      </small>
    </Figure>
  );
}

/** Returns the name of a stack as Pulumi writes it: `project/stack`. */
export const stackName = ({ project, stack }: Origin): string => `${project}/${stack}`;

/** A button that copies a text and then confirms it. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const outcome = useSignal("");
  const copy = async () => {
    outcome.value = await navigator.clipboard.writeText(text).then(
      () => "Copied",
      () => "Cannot copy",
    );
    setTimeout(() => {
      outcome.value = "";
    }, 1500);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <span aria-live="polite">{outcome.value || label}</span>
    </button>
  );
}

/** A search input that writes the typed text to a signal. */
export function SearchInput({
  label,
  placeholder = label,
  value,
}: {
  label: string;
  placeholder?: string;
  value: Signal<string>;
}) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      value={value.value}
      onInput={(event) => (value.value = event.currentTarget.value)}
    />
  );
}

/** The options of a select, from values and their labels. */
export function Options({ of }: { of: Readonly<Record<string, string>> }) {
  return (
    <>
      {Object.entries(of).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

/** A button that loads the next page of a list. */
export function More({ next, onMore }: { next: string | null; onMore: (next: string) => Promise<void> }) {
  const failure = useSignal("");
  if (next === null) return null;
  const showMore = async () => {
    failure.value = "";
    await onMore(next).catch((error: Error) => {
      failure.value = `Cannot load more: ${error.message}`;
    });
  };
  return (
    <p class="more">
      <button type="button" onClick={showMore}>
        Show more
      </button>
      <span role="alert">{failure.value}</span>
    </p>
  );
}

/** A block of code or JSON that scrolls sideways. */
export function Block({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: screen readers would list a section as a region of the page.
    <div class="block" role="group" aria-label={label} tabIndex={0}>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}
