import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Origin } from "../../service/console/answers";
import { cut, exact, fromNow, titled } from "../format";

/** The minute hand of all relative times. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 10_000);

/** A time as seen from now; the exact one on hover, and for machines. */
export function Time({ ts }: { ts: number | null | undefined }) {
  if (ts == null) return <span class="muted">–</span>;
  if (Number.isNaN(new Date(ts).getTime())) return <span>{ts} ms</span>;
  return (
    <time dateTime={new Date(ts).toISOString()} title={exact(ts)}>
      {fromNow(ts, Math.max(now.value, Date.now()))}
    </time>
  );
}

/** A part of a screen. */
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

/** A name of somebody else's: shown apart from the text around it, and never longer than its place. */
export function Name({ children }: { children: string }) {
  return (
    <bdi class="name" title={children.length > 60 ? cut(children, 1000) : undefined}>
      {cut(children)}
    </bdi>
  );
}

/** An id that can be copied. */
export function Id({ children, href, onClick }: { children: string; href?: string; onClick?: () => void }) {
  const text = <bdi>{cut(children, 60)}</bdi>;
  return href ? (
    <a class="id" href={href} onClick={onClick}>
      {text}
    </a>
  ) : (
    <span class="id">{text}</span>
  );
}

/** What tells things of one name apart: the id, and the release that made it if that is known. */
export function Apart({ id, origin }: { id: string; origin: Origin | null }) {
  return (
    <div class="apart">
      <Id>{id}</Id>
      {origin?.release && (
        <span>
          release <bdi>{cut(origin.release, 60)}</bdi>
        </span>
      )}
    </div>
  );
}

/** The states of jobs, in words. */
export const states: Readonly<Record<string, string>> = {
  PENDING: "waits",
  RUNNING: "runs",
  SUCCEED: "done",
  FAILED: "failed",
};

/** The state of a job, by word and by colour. */
export function State({ of }: { of: string }) {
  return (
    <span class={`state ${of.toLowerCase()}`}>
      <i aria-hidden="true" />
      {states[of] ?? titled(of)}
    </span>
  );
}

/** How full something is. */
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

/** A figure with its name. */
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

/** The stack, the resource and the release that something comes from, where that was told. */
export function OriginFigure({ name, of }: { name: string; of: Origin | null }) {
  if (!of) return null;
  return (
    <Figure name={name}>
      <Name>{stackOf(of)}</Name>{" "}
      <small>
        resource <bdi>{cut(of.resource)}</bdi>
        {of.release && `, release ${cut(of.release)}`}
      </small>
    </Figure>
  );
}

/** A stack as Pulumi names it beside its project. */
export const stackOf = ({ project, stack }: Origin): string => `${project}/${stack}`;

/** A button that copies a text and says so. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const done = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    done.value = true;
    setTimeout(() => {
      done.value = false;
    }, 1500);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <span aria-live="polite">{done.value ? "Copied" : label}</span>
    </button>
  );
}

/** The way to the next page of a list. */
export function More({ next, onMore }: { next: string | null; onMore: (next: string) => void }) {
  if (next === null) return null;
  return (
    <p class="more">
      <button type="button" onClick={() => onMore(next)}>
        Show more
      </button>
    </p>
  );
}

/** A text of several lines, which scrolls sideways. */
export function Block({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a section would be listed among the parts of the page.
    <div class="block" role="group" aria-label={label} tabIndex={0}>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}
