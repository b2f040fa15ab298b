import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect } from "preact/hooks";
import type { Page } from "../../service/console/answers";
import { Refused, view } from "../session";

/** Something that is being read, was read, or could not be. */
export type Loaded<T> =
  | { readonly state: "loading"; readonly value?: T }
  | { readonly state: "ready"; readonly value: T }
  | { readonly state: "failed"; readonly error: Refused; readonly value?: T };

/** Reads something whenever what it depends on changes; what was read before stays while it is read anew. */
export function useLoad<T>(
  read: (signal: AbortSignal) => Promise<T>,
  on: readonly unknown[],
): { readonly loaded: Loaded<T>; readonly again: () => void } {
  const loaded = useSignal<Loaded<T>>({ state: "loading" });
  const turn = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    const before = loaded.peek();
    loaded.value = "value" in before ? { state: "loading", value: before.value as T } : { state: "loading" };
    read(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) loaded.value = { state: "ready", value };
      },
      (failure) => {
        if (stop.signal.aborted) return;
        const error = failure instanceof Refused ? failure : new Refused(0, String(failure));
        loaded.value = { state: "failed", error };
      },
    );
    return () => stop.abort();
  }, [...on, turn.value]);
  const again = useCallback(() => {
    turn.value++;
  }, [turn]);
  return { loaded: loaded.value, again };
}

/** A list that is read page by page; it begins anew whenever what it depends on changes. */
export function usePages<T>(
  name: string,
  filter: Record<string, string>,
  on: readonly unknown[],
): {
  readonly first: ReturnType<typeof useLoad<Page<T>>>;
  readonly older: readonly T[];
  readonly next: string | null;
  readonly more: (page: string) => Promise<void>;
} {
  const older = useSignal<readonly T[]>([]);
  const next = useSignal<string | null>(null);
  const first = useLoad<Page<T>>((signal) => view(name, filter, signal), on);
  const { value } = first.loaded;
  useEffect(() => {
    older.value = [];
    next.value = value?.next ?? null;
  }, [value, older, next]);
  const more = async (page: string) => {
    const read = await view<Page<T>>(name, { ...filter, page });
    // What was asked for may be another list by now.
    if (next.value !== page) return;
    older.value = [...older.value, ...read.rows];
    next.value = read.next;
  };
  return { first, older: older.value, next: next.value, more };
}

/** Shows what was read; while it is read a quiet outline, and where it cannot be, why and what to do. */
export function Load<T>({
  of: { loaded, again },
  lines = 4,
  children,
}: {
  of: ReturnType<typeof useLoad<T>>;
  lines?: number;
  children: (value: T) => ComponentChildren;
}) {
  if (loaded.state === "failed") return <Failed error={loaded.error} again={again} />;
  // What was read may be that there is nothing.
  if (!("value" in loaded)) return <Skeleton lines={lines} />;
  return <div aria-busy={loaded.state === "loading"}>{children(loaded.value as T)}</div>;
}

/** The outline of what is to come. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} style={{ width: `${[92, 74, 84, 58][at % 4]}%` }} />
      ))}
    </div>
  );
}

/** Why something cannot be shown. */
export function Failed({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div class="note bad" role="alert">
      <strong>
        {error instanceof Refused && error.status === 0 ? "No connection" : "This cannot be shown"}
      </strong>
      <p>{error.message}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Says that there is nothing yet, and how something comes there. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <svg viewBox="0 0 48 32" width="72" height="48" aria-hidden="true">
        <circle cx="10" cy="22" r="4" />
        <circle cx="24" cy="9" r="4" />
        <circle cx="38" cy="22" r="4" />
        <path d="M13 19 21 12M27 12l8 7" />
      </svg>
      <strong>{title}</strong>
      {children}
    </div>
  );
}
