import type { Dispatcher } from "undici";
import { decode, idempotencyHeader, type Route } from "../../contract";
import { isObject } from "../../contract/field";
import { issuesText, truncate } from "../../contract/messages";
import { wireName } from "../../contract/wire";
import { ReplyError } from "../errors";
import { readErrorBody } from "./error-body";
import type { Sent } from "./request";

/** A response with a success status. */
export interface Success {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  /**
   * Whether the service has responded at this address before. If not, an invalid body probably means a wrong address.
   */
  readonly isKnownAddress: boolean;
  readonly sent: Sent;
}

/**
 * Parses and validates the reply of a call. An empty body counts as an empty object. A reply that repeats a field of
 * the request with another value is not the reply to this call.
 */
export function readReply(
  route: Route,
  { status, text, requestId, isKnownAddress: passing, sent }: Success,
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
  if (!reply.success) {
    const problem = isEmpty
      ? "the response has no body"
      : redact(`the response is not valid: ${issuesText(reply.error.issues)}`) + quotedError(text, redact);
    throw new ReplyError(route, status, problem, { requestId, passing });
  }
  const difference = differenceFrom(sent, reply.data);
  if (difference === undefined) return reply.data;
  throw new ReplyError(route, status, redact(difference), { requestId, passing, isOfOtherCall: true });
}

/** Returns what an error body says that came with a success status. Empty for other bodies. */
function quotedError(text: string, redact: (text: string) => string): string {
  const { code, message, shape } = readErrorBody(text, redact);
  return shape === "error" ? `; it says "${[code, message].filter(Boolean).join(": ")}"` : "";
}

/** Returns how a reply contradicts its request, or undefined if it does not. */
function differenceFrom(sent: Sent, reply: unknown): string | undefined {
  for (const [key, value] of Object.entries(isObject(reply) ? reply : {})) {
    const field = wireName(key);
    const asked = Object.hasOwn(sent, field) ? sent[field] : undefined;
    if (asked === undefined || value == null || value === asked) continue;
    // User ids are personal data, and errors end up in logs.
    if (field === "user_id") return "the response is about another user_id than the request";
    return `the response is about ${field} ${truncate(String(value))}, not ${truncate(String(asked))}`;
  }
  return undefined;
}

/** Returns a response header, or its first value if it occurs several times. */
export function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Whether a response says that the service honours idempotency keys. */
export function hasKeysHeader(response: Dispatcher.ResponseData): boolean {
  return /\bPOST\b/i.test(header(response, idempotencyHeader) ?? "");
}
