import { truncate } from "../../contract/messages";

/** Maximum characters of each part of an error body that a message quotes. */
const maxCharacters = 500;

/** Removes secrets from a text. */
type Redact = (text: string) => string;

/** Content of an error body. */
export interface ErrorBody {
  readonly code?: string | undefined;
  readonly message: string;
  /** `error` is JSON with an error code or text. Other shapes do not come from an API. */
  readonly shape: "error" | "other JSON" | "HTML" | "text" | "empty";
}

/**
 * Reads an error body: JSON of any shape, HTML, plain text, or empty. Secrets are removed before the text is truncated,
 * because a truncated secret would not be recognized.
 */
export function readErrorBody(body: string, redact: Redact = (text) => text): ErrorBody {
  const show: Redact = (text) => truncate(redact(text), maxCharacters);
  const text = body.trim();
  if (text === "") return { message: "the response has no body", shape: "empty" };
  try {
    return fromJson(JSON.parse(text), show);
  } catch {
    if (text.startsWith("<")) return { message: fromHtml(text, show), shape: "HTML" };
    return { message: show(text), shape: "text" };
  }
}

function fromJson(value: unknown, show: Redact): ErrorBody {
  if (typeof value !== "object" || value === null)
    return { message: show(String(value)), shape: "other JSON" };
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
  // The service points to the details, which follow here.
  const text = details.length > 0 ? message?.replace(/\. See `details`\.$/, "") : message;
  return {
    code,
    message: [text ?? show(JSON.stringify(value)), ...details.map(show)].join("; "),
    shape: code === undefined && message === undefined ? "other JSON" : "error",
  };
}

function detailText(detail: unknown): string {
  const { path, message } = (detail ?? {}) as { path?: unknown; message?: unknown };
  return typeof message === "string" ? `${path ? `${path}: ` : ""}${message}` : "";
}

function fromHtml(text: string, show: Redact): string {
  const title = /<title[^>]*>([^<]+)/i.exec(text)?.[1] ?? /<h1[^>]*>([^<]+)/i.exec(text)?.[1];
  return `an HTML page${title ? ` titled "${show(title.trim())}"` : ""} came instead of JSON`;
}
