import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useCallback, useEffect } from "preact/hooks";
import type { Page } from "../../service/console/responses";
import { fetchView, RequestError } from "../session";

/** The state of data that a component loads. */
export type Loaded<T> =
  | { readonly state: "loading"; readonly value?: T }
  | { readonly state: "ready"; readonly value: T }
  | { readonly state: "failed"; readonly error: RequestError; readonly value?: T };

/** Loads data, and loads it again when `deps` change. The previous value stays available while loading. */
export function useLoad<T>(
  read: (signal: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
): { readonly loaded: Loaded<T>; readonly reload: () => void } {
  const loaded = useSignal<Loaded<T>>({ state: "loading" });
  const attempt = useSignal(0);
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
        const error = failure instanceof RequestError ? failure : new RequestError(0, String(failure));
        loaded.value = { state: "failed", error };
      },
    );
    return () => stop.abort();
  }, [...deps, attempt.value]);
  const reload = useCallback(() => {
    attempt.value++;
  }, [attempt]);
  return { loaded: loaded.value, reload };
}

/** Loads a list page by page. It starts over when `deps` change. */
export function usePages<T>(
  name: string,
  filter: Record<string, string>,
  deps: readonly unknown[],
): {
  readonly first: ReturnType<typeof useLoad<Page<T>>>;
  readonly older: readonly T[];
  readonly next: string | null;
  readonly loadMore: (page: string) => Promise<void>;
} {
  const older = useSignal<readonly T[]>([]);
  const next = useSignal<string | null>(null);
  const first = useLoad<Page<T>>((signal) => fetchView(name, filter, signal), deps);
  const { value } = first.loaded;
  useEffect(() => {
    older.value = [];
    next.value = value?.next ?? null;
  }, [value, older, next]);
  const loadMore = async (page: string) => {
    const read = await fetchView<Page<T>>(name, { ...filter, page });
    // The list may have changed while this page was loading.
    if (next.value !== page) return;
    older.value = [...older.value, ...read.rows];
    next.value = read.next;
  };
  return { first, older: older.value, next: next.value, loadMore };
}

/** Shows loaded data, a placeholder while loading, or the error with a button to retry. */
export function Load<T>({
  of: { loaded, reload },
  lines = 4,
  children,
}: {
  of: ReturnType<typeof useLoad<T>>;
  lines?: number;
  children: (value: T) => ComponentChildren;
}) {
  if (loaded.state === "failed") return <Failed error={loaded.error} retry={reload} />;
  // A loaded value may be undefined, so check whether the key exists.
  if (!("value" in loaded)) return <Skeleton lines={lines} />;
  return <div aria-busy={loaded.state === "loading"}>{children(loaded.value as T)}</div>;
}

/** A placeholder for content that is loading. */
export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} style={{ width: `${[92, 74, 84, 58][at % 4]}%` }} />
      ))}
    </div>
  );
}

/** An error message with a button to retry. */
export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="note bad" role="alert">
      <strong>
        {error instanceof RequestError && error.status === 0 ? "No connection" : "Cannot show this"}
      </strong>
      <p>{error.message}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A message for an empty list, with advice on how to fill it. */
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
