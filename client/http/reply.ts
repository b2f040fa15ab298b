import { decode, type Route } from "../../contract";
import { issuesText } from "../../contract/messages";
import { ReplyError } from "../errors";
import { readErrorBody } from "./error-body";

/** A success as it arrived. */
export interface Success {
  readonly status: number;
  readonly text: string;
  readonly requestId: string | undefined;
  /** Whether the service has answered under this address before. */
  readonly known: boolean;
}

/** The reply of a call, validated by the contract; an empty body counts as an object without fields. */
export function readReply(
  route: Route,
  { status, text, requestId, known }: Success,
  redact: (said: string) => string,
): unknown {
  let body: unknown;
  try {
    body = text.trim() === "" ? {} : JSON.parse(text);
  } catch {
    const cutShort = /^\s*[[{]/.test(text);
    const problem = cutShort ? "its JSON is incomplete" : readErrorBody(text, redact).message;
    // A page for people under an address that has never answered is that of a wrong address, not of a bad day.
    throw new ReplyError(route, status, problem, { requestId, passing: cutShort || known });
  }
  // A service that sends ids as numbers may have created the object: the message has to show its id.
  const reply = route.reply.safeParse(decode(route.reply, body), { reportInput: true });
  if (reply.success) return reply.data;
  const problem = `the reply is not what it should be: ${issuesText(reply.error.issues)}`;
  throw new ReplyError(route, status, redact(problem), { requestId });
}
