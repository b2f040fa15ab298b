import { signal } from "@preact/signals";
import type { SessionAnswer } from "../service/console/answers";

/** Under which the header's half of a session is kept, for this origin and this tab alone. */
const storageKey = "recommender-console-token";

/** Whether somebody is signed in, and who; `why` says what kept him out. */
export type SignedIn =
  | { readonly state: "asking" }
  | { readonly state: "out"; readonly why?: string }
  | { readonly state: "in"; readonly session: SessionAnswer };

export const signedIn = signal<SignedIn>({ state: "asking" });

/** An answer that says no: by the service, or because it cannot be reached. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = "",
    /** What is wrong with which field, where the service says so. */
    readonly details: readonly { readonly path: string; readonly message: string }[] = [],
  ) {
    super(message);
  }
}

const base = new URL(".", location.href.split("#")[0]);

/** The address of a part of the service, which may lie under a path of a proxy. */
export function addressOf(path: string): string {
  return new URL(path.replace(/^\//, ""), base).href;
}

/** Calls the service as the one who is signed in. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(storageKey);
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("x-console-token", token);
  const answer = await fetch(addressOf(path), { ...init, headers, redirect: "error" }).catch((error) => {
    if (init.signal?.aborted) throw error;
    throw new Refused(0, "The service does not answer. It may have been stopped, or it restarts.");
  });
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string; details?: Refused["details"] };
  };
  const refused = new Refused(
    answer.status,
    body.error?.message ?? `The service answered ${answer.status}.`,
    body.error?.code,
    body.error?.details,
  );
  if (answer.status === 401 && signedIn.value.state === "in") signOutHere(refused.message);
  throw refused;
}

/** A part of what the console shows. */
export async function view<T>(
  name: string,
  query: Record<string, string | undefined> = {},
  signal?: AbortSignal,
): Promise<T> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const answer = await request(`console/api/${name}?${new URLSearchParams(given)}`, signal ? { signal } : {});
  return (await answer.json()) as T;
}

/** Sends JSON and reads the answer. */
export async function send<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const answer = await request(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  return (await answer.json()) as T;
}

/** Signs in by the code of the address, which is taken out of it first, or by the session that is there already. */
export async function signIn(): Promise<void> {
  const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", addressOf(""));
  try {
    if (code !== undefined) {
      const { token } = await send<{ token: string }>("console/session", { code });
      sessionStorage.setItem(storageKey, token);
    } else if (sessionStorage.getItem(storageKey) === null) {
      signedIn.value = { state: "out" };
      return;
    }
    await readSession();
  } catch (error) {
    signOutHere((error as Error).message);
  }
}

/** Reads who is signed in, and the projects. */
export async function readSession(): Promise<void> {
  signedIn.value = { state: "in", session: await view<SessionAnswer>("session") };
}

/** Ends the session in the service too. */
export async function signOut(): Promise<void> {
  await request("console/session", { method: "DELETE" }).catch(() => undefined);
  signOutHere();
}

function signOutHere(why?: string): void {
  sessionStorage.removeItem(storageKey);
  signedIn.value = why === undefined ? { state: "out" } : { state: "out", why };
}
