import type { Caller } from "./running";

const json = { "content-type": "application/json" };

/** Returns a code that opens a session of the console. */
export async function codeOf(
  running: Caller,
  asked: { readonly write?: boolean } = {},
  apikey: string = running.service.key,
): Promise<string> {
  const headers = { ...json, apikey };
  const body = JSON.stringify(asked);
  const { status, body: answer } = await running.raw("/console/code", { method: "POST", headers, body });
  expect(status).toBe(200);
  return answer.code;
}

/** Exchanges a code for a session, as the page does. */
export function exchange(running: Caller, code: string) {
  const headers = { ...json, origin: running.service.url };
  return running.raw("/console/session", { method: "POST", headers, body: JSON.stringify({ code }) });
}

/** Returns the headers of a page that has signed in. */
export async function signIn(...asked: Parameters<typeof codeOf>): Promise<Record<string, string>> {
  const [running] = asked;
  const opened = await exchange(running, await codeOf(...asked));
  expect(opened.status).toBe(200);
  const [cookie] = String(opened.answered["set-cookie"]).split(";");
  return { cookie: cookie as string, "x-console-token": opened.body.token };
}
