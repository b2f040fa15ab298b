import type { Dispatcher } from "undici";
import { decode, type Route } from "../../contract";
import { isObject } from "../../contract/field";
import { issuesText, truncate } from "../../contract/messages";
import { wireName } from "../../contract/wire";
import { ReplyError } from "../errors";
import { readErrorBody } from "./error-body";

/** A response with a success status. */
export interface Success {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  /** Whether the service has responded at this address before. If not, another body means that the address is wrong. */
  readonly isKnownAddress: boolean;
  /** Ids in the request by wire name. */
  readonly ids: Readonly<Record<string, string>>;
}

/**
 * Parses and validates the reply of a call. An empty body counts as an empty object. A reply that names another object
 * than the request is not the reply to this call.
 */
export function readReply(
  route: Route,
  { status, text, requestId, isKnownAddress: passing, ids }: Success,
  redact: (text: string) => string,
): unknown {
  const isEmpty = text.trim() === "";
  let body: unknown;
  try {
    body = isEmpty ? {} : JSON.parse(text);
  } catch {
    const isCutOff = /^\s*[[{]/.test(text);
    const problem = isCutOff ? "the JSON is incomplete" : readErrorBody(text, redact).message;
    throw new ReplyError(route, status, problem, { requestId, passing: isCutOff || passing });
  }
  // If a service sends an id as a number, it may have created the object, so the message shows the id.
  const reply = route.reply.safeParse(decode(route.reply, body), { reportInput: true });
  const problem = reply.success
    ? otherObject(reply.data, ids)
    : isEmpty
      ? "the response has no body"
      : `the response is not valid: ${issuesText(reply.error.issues)}`;
  if (problem === undefined) return reply.data;
  throw new ReplyError(route, status, redact(problem), { requestId, passing });
}

/** Returns how a reply differs from the ids of its request, or undefined if it does not. */
function otherObject(reply: unknown, ids: Success["ids"]): string | undefined {
  for (const [key, value] of Object.entries(isObject(reply) ? reply : {})) {
    const asked = ids[wireName(key)];
    if (asked !== undefined && value != null && value !== asked)
      return `the response is about ${wireName(key)} ${truncate(String(value))}, not ${truncate(asked)}`;
  }
  return undefined;
}

/** Reads a body with a time limit. The agent's own limit applies only to the time between two chunks. */
export async function readBody({ body }: Dispatcher.ResponseData, limitMs: number): Promise<string> {
  const timer = setTimeout(() => body.destroy(new Error(`the body took longer than ${limitMs} ms`)), limitMs);
  return body.text().finally(() => clearTimeout(timer));
}

/** Returns a response header, or the first one if it occurs several times. */
export function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
