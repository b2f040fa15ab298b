import type { z } from "zod";
import type { Route } from "../contract";
import { issuesText } from "../contract/words";

type Call = Pick<Route, "method" | "path">;

/** The service answered and refused the call. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The service's own word for what is wrong, where its answer has one. */
  readonly code: string | undefined;
  /** What the service said, without the call that it said it to. */
  readonly reason: string;
  readonly requestId: string | undefined;

  constructor(call: Call, answer: { status: number; requestId?: string | undefined } & Refusal, hint = "") {
    const code = answer.code ? ` ${answer.code}` : "";
    const request = answer.requestId ? ` (request ${answer.requestId})` : "";
    super(`${call.method} ${call.path}: ${answer.status}${code}: ${answer.message}${request}${hint}`);
    this.method = call.method;
    this.path = call.path;
    this.status = answer.status;
    this.code = answer.code;
    this.reason = answer.message;
    this.requestId = answer.requestId;
  }
}

/** Whether the service looked at the call itself and refused it, so that it had no effect. */
export function isVerdict(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && ![401, 403, 408, 429].includes(error.status);
}

/** The service answered success with a body that is not what the contract says. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
  readonly status: number;
  readonly requestId: string | undefined;
  /** Whether a retry may help: the JSON is incomplete, or a proxy sent its own page. */
  readonly passing: boolean;

  constructor(
    call: Call,
    status: number,
    problem: string,
    options: { requestId?: string | undefined; passing?: boolean } = {},
  ) {
    const request = options.requestId ? ` (request ${options.requestId})` : "";
    super(`${call.method} ${call.path}: answered ${status}, but ${problem}${request}`);
    this.status = status;
    this.requestId = options.requestId;
    this.passing = options.passing ?? false;
  }
}

/** The call did not reach the service, or no complete response arrived, and a retry was useless or unsafe. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(call: Call, origin: string, problem: string, options?: ErrorOptions) {
    super(`${call.method} ${call.path}: ${problem} (${origin})`, options);
  }
}

/** A call that creates or submits may or may not have succeeded; `cause` says what was seen. */
export class OutcomeUnknownError extends Error {
  override readonly name = "OutcomeUnknownError";
  override readonly cause: Error;
  readonly method: string;
  readonly path: string;
  /** The key under which a service that honours it would answer the same call again. */
  readonly idempotencyKey: string;

  constructor(
    call: Call,
    idempotencyKey: string,
    cause: Error,
    { attempts = 1, honoured = false }: { attempts?: number; honoured?: boolean | undefined } = {},
  ) {
    const sent =
      attempts > 1 && honoured
        ? `It was sent ${attempts} times under one key, which the service honours`
        : "It was not sent again, so as not to do it twice";
    super(
      `The outcome of ${call.method} ${call.path} is unknown: it may have succeeded. ${sent}. ` +
        `Check the service before you try again. Cause: ${cause.message}`,
    );
    this.cause = cause;
    this.method = call.method;
    this.path = call.path;
    this.idempotencyKey = idempotencyKey;
  }
}

/** What was given to a call does not fit the contract; nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";

  constructor(call: Pick<Route, "method" | "path" | "request">, issues: readonly z.core.$ZodIssue[]) {
    super(`${call.method} ${call.path}: ${issuesText(issues, call.request)}`);
  }
}

/** No token could be had for a call; nothing was sent. */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** Whether trying again may help. */
  readonly transient: boolean;

  constructor(message: string, options: ErrorOptions & { transient?: boolean } = {}) {
    super(message, options);
    this.transient = options.transient ?? false;
  }
}

/** Whether nothing was learned from the service, because it or what gives tokens for it cannot be reached. */
export function isOutage(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof TokenError && error.transient);
}

/** Makes a text fit to be shown. */
type Show = (said: string) => string;

interface Refusal {
  readonly code?: string | undefined;
  readonly message: string;
}

/**
 * What an error body says, whatever it is: JSON of any shape, HTML, plain text, cut off, or nothing. What must not be
 * shown is taken out before a text is cut, or a part of it would stay.
 */
export function readRefusal(body: string, redact: Show = (said) => said): Refusal {
  const show: Show = (said) => shortened(redact(said));
  const text = body.trim();
  if (text === "") return { message: "the response has no body" };
  try {
    return fromJson(JSON.parse(text), show);
  } catch {
    return { message: /^\s*</.test(text) ? fromHtml(text, show) : show(text) };
  }
}

function fromJson(value: unknown, show: Show): Refusal {
  if (typeof value !== "object" || value === null) return { message: show(String(value)) };
  const object = value as Record<string, unknown>;
  const inner = object.error ?? object.errors ?? object.fault;
  if (Array.isArray(inner) && inner.length > 0) return fromJson(inner[0], show);
  if (typeof inner === "object" && inner !== null) return fromJson(inner, show);
  const first = (keys: string[]) => {
    const key = keys.find(
      (name) => ["string", "number"].includes(typeof object[name]) && object[name] !== "",
    );
    return key === undefined ? undefined : show(String(object[key]));
  };
  const code = first(["code", "error_code", "errorCode", "type", "error"]);
  const message = first(["message", "error_description", "detail", "title", "reason", "msg", "error"]);
  const details = Array.isArray(object.details) ? object.details.map(detailText).filter(Boolean) : [];
  return { code, message: [message ?? show(JSON.stringify(value)), ...details.map(show)].join("; ") };
}

function detailText(detail: unknown): string {
  const { path, message } = (detail ?? {}) as { path?: unknown; message?: unknown };
  return typeof message === "string" ? `${path ? `${path}: ` : ""}${message}` : "";
}

function fromHtml(text: string, show: Show): string {
  const title = /<title[^>]*>([^<]+)/i.exec(text)?.[1] ?? /<h1[^>]*>([^<]+)/i.exec(text)?.[1];
  return `an HTML page${title ? ` titled "${show(title.trim())}"` : ""} came instead of JSON`;
}

function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
