import type { Dispatcher } from "undici";
import { decode, type Route } from "../../contract";
import { issuesText } from "../../contract/messages";
import { ReplyError } from "../errors";
import { readErrorBody } from "./error-body";

/** A response with a success status. */
export interface Success {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  /** Whether the service has responded at this address before. */
  readonly isKnownAddress: boolean;
}

/** Parses and validates the reply of a call. An empty body counts as an empty object. */
export function readReply(
  route: Route,
  { status, text, requestId, isKnownAddress }: Success,
  redact: (text: string) => string,
): unknown {
  let body: unknown;
  try {
    body = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    const isCutOff = /^\s*[[{]/.test(text);
    const problem = isCutOff ? "the JSON is incomplete" : readErrorBody(text, redact).message;
    // An HTML page may be a temporary error. At an address that has never worked, it means that the address is wrong.
    throw new ReplyError(route, status, problem, { requestId, passing: isCutOff || isKnownAddress });
  }
  // If a service sends an id as a number, it may have created the object, so the message shows the id.
  const reply = route.reply.safeParse(decode(route.reply, body), { reportInput: true });
  if (reply.success) return reply.data;
  const problem = `the response is not valid: ${issuesText(reply.error.issues)}`;
  throw new ReplyError(route, status, redact(problem), { requestId });
}

/** Returns a response header, or the first one if it occurs several times. */
export function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
