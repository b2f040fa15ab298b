import { signal } from "@preact/signals";
import type { SessionResponse } from "../service/console/responses";

/**
 * Key in sessionStorage for the session's token, which is sent as a header. Only this origin and this tab can read it.
 */
const storageKey = "recommender-console-token";

/** Whether somebody is signed in, and who. `reason` says why a sign-in failed or a session ended. */
export type SignInState =
  | { readonly state: "loading" }
  | { readonly state: "out"; readonly reason?: string }
  | { readonly state: "in"; readonly session: SessionResponse };

export const signInState = signal<SignInState>({ state: "loading" });

/** A failed request: the service rejected it, or could not be reached (status 0). */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = "",
    /** The invalid fields of the request, if the service named them. */
    readonly details: readonly { readonly path: string; readonly message: string }[] = [],
  ) {
    super(message);
  }
}

const base = new URL(".", location.href.split("#")[0]);

/** Returns the URL of a path of the service. Behind a proxy, the service may be at a path of the host. */
export function urlOf(path: string): string {
  return new URL(path.replace(/^\//, ""), base).href;
}

/** Calls the service in the current session. Throws RequestError if it rejects the call or cannot be reached. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(storageKey);
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("x-console-token", token);
  const answer = await fetch(urlOf(path), { ...init, headers, redirect: "error" }).catch((error) => {
    if (init.signal?.aborted) throw error;
    throw new RequestError(0, "The service does not respond. It may be stopped or restarting.");
  });
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string; details?: RequestError["details"] };
  };
  const refused = new RequestError(
    answer.status,
    body.error?.message ?? `The service responded with status ${answer.status}.`,
    body.error?.code,
    body.error?.details,
  );
  if (answer.status === 401 && signInState.value.state === "in") clearSession(refused.message);
  throw refused;
}

/** Reads the data that a screen shows from `console/api`. */
export async function fetchView<T>(
  name: string,
  query: Record<string, string | undefined> = {},
  signal?: AbortSignal,
): Promise<T> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const answer = await request(`console/api/${name}?${new URLSearchParams(given)}`, signal ? { signal } : {});
  return (await answer.json()) as T;
}

/** Sends JSON with POST and returns the response. */
export async function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return (await answer.json()) as T;
}

/** Signs in with the code in the URL, or continues the session of this tab. The code is first removed from the URL. */
export async function signIn(): Promise<void> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", urlOf(""));
  try {
    if (code !== undefined) {
      const { token } = await postJson<{ token: string }>("console/session", { code });
      sessionStorage.setItem(storageKey, token);
    } else if (sessionStorage.getItem(storageKey) === null) {
      signInState.value = { state: "out" };
      return;
    }
    await readSession();
  } catch (error) {
    clearSession((error as Error).message);
  }
}

/** Reads the session: who is signed in, and the projects. */
export async function readSession(): Promise<void> {
  signInState.value = { state: "in", session: await fetchView<SessionResponse>("session") };
}

/** Ends the session, here and in the service. */
export async function signOut(): Promise<void> {
  await request("console/session", { method: "DELETE" }).catch(() => undefined);
  clearSession();
}

function clearSession(reason?: string): void {
  sessionStorage.removeItem(storageKey);
  signInState.value = reason === undefined ? { state: "out" } : { state: "out", reason };
}
