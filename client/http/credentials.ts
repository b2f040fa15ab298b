import { exec } from "node:child_process";
import type { Dispatcher } from "undici";
import { z } from "zod";
import type { Clock } from "../clock";
import { TokenError } from "../errors";
import { fitsHeader, parseJson } from "../parse";
import { readErrorBody } from "./error-body";
import { unreachableReason } from "./retry";

/** An access token and how long it serves. */
interface Token {
  readonly value: string;
  /** Milliseconds from its issue; unknown where the source does not say. */
  readonly lifetimeMs?: number | undefined;
}

/** A way to get an access token for a scope. */
export interface TokenSource {
  /** What it is called when a token of it is refused. */
  readonly origin: string;
  /** Texts that must never be shown. */
  readonly secrets: readonly string[];
  /** Whether it refuses a scope that the credentials lack; others give one token for all, or fail for any reason. */
  readonly refusesScopes?: true;
  fetch(scope: string, http: Dispatcher): Promise<Token>;
}

/** One token for every scope. */
export function fixedToken(value: string, origin = "accessToken"): TokenSource {
  return { origin, secrets: [value], fetch: async () => ({ value }) };
}

/** A shell command that prints a token; it finds the scope in `RECOMMENDER_SCOPE`. */
export function commandToken(
  command: string,
  { origin = "tokenCommand", timeoutMs = 60_000 } = {},
): TokenSource {
  const fetch = (scope: string) =>
    new Promise<Token>((resolve, reject) => {
      const options = { timeout: timeoutMs, env: { ...process.env, RECOMMENDER_SCOPE: scope } };
      exec(command, options, (error, stdout, stderr) => {
        const value = stdout.trim();
        if (error) {
          const said = redactLongWords(stderr.trim().split("\n").at(-1) ?? "");
          const how = error.killed ? `gave no token within ${timeoutMs} ms` : `exited with ${error.code}`;
          // The command's own error is not passed on as the cause: it quotes the command, which may hold a secret.
          reject(new TokenError(`${origin} ${how} for the scope ${scope}${said ? `: ${said}` : ""}`));
        } else if (value === "" || /\s/.test(value)) {
          const what = value === "" ? "nothing" : "more than one word";
          reject(
            new TokenError(`${origin} printed ${what} for the scope ${scope}; it must print the token alone`),
          );
        } else resolve({ value, lifetimeMs: jwtLifetimeMs(value) });
      });
    });
  return { origin, secrets: [], fetch };
}

/** A token endpoint and the client that asks it. */
export interface TokenEndpoint {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly origin?: string;
  /** What an error calls the credentials that the endpoint rejects; `clientId and clientSecret` unless given. */
  readonly credentials?: string;
  /** The command that shows which credentials are used; `recommender whoami` unless given. */
  readonly whoami?: string | undefined;
}

const tokenReply = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().nullish().catch(undefined),
});

/** OAuth 2 client credentials, with the path of the operation as the scope. */
export function endpointToken(endpoint: TokenEndpoint): TokenSource {
  const { url, clientId, clientSecret, origin = `tokenUrl ${url}` } = endpoint;
  const { credentials = "clientId and clientSecret", whoami = "recommender whoami" } = endpoint;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const { origin: host, pathname, search } = new URL(url);
  const fetch = async (scope: string, http: Dispatcher): Promise<Token> => {
    const options = {
      origin: host,
      path: pathname + search,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ ...form, scope }).toString(),
    } as const;
    const { statusCode, body } = await http.request(options).catch((error: Error) => {
      const unreachable = unreachableReason(host, error);
      throw new TokenError(unreachable ?? `${origin} did not answer: ${error.message}`, {
        cause: error,
        transient: true,
        isUnreachable: unreachable !== undefined,
      });
    });
    const text = await body.text().catch((error: Error) => {
      throw new TokenError(`${origin} sent an incomplete response: ${error.message}`, {
        cause: error,
        transient: true,
      });
    });
    if (statusCode >= 300) {
      const { code = "", message } = readErrorBody(redactSecret(text, clientSecret));
      const transient = statusCode === 429 || statusCode >= 500;
      const said = `${statusCode}${code && ` ${code}`}`;
      if (statusCode === 401 || code === "invalid_client") {
        const rejected = `${origin} rejects ${credentials} (${said}). Check with \`${whoami}\`.`;
        throw new TokenError(rejected, { refusal: "credentials" });
      }
      const reason = `${said}: ${withoutFullStop(message)}`;
      if (statusCode === 403 || code === "invalid_scope") {
        // A service that names the scope says who lacks it too.
        const missing = message.includes(scope)
          ? `${withoutFullStop(message)}.`
          : `${origin} gives no token for the scope ${scope} (${reason}).`;
        const hint = `See which scopes get a token with \`${whoami}\`.`;
        throw new TokenError(`${missing} ${hint}`, { refusal: "scope" });
      }
      throw new TokenError(`${origin} refused a token for the scope ${scope} (${reason})`, { transient });
    }
    const reply = tokenReply.safeParse(parseJson(text)).data;
    if (!reply) {
      const transient = parseJson(text) === undefined && text.trimStart().startsWith("{");
      throw new TokenError(`${origin} answered ${statusCode} without an access_token`, { transient });
    }
    const { access_token: value, expires_in: seconds } = reply;
    return { value, lifetimeMs: seconds == null ? jwtLifetimeMs(value) : seconds * 1000 };
  };
  return { origin, secrets: [clientSecret], refusesScopes: true, fetch };
}

/** Tokens of one source, kept per scope until shortly before they expire and fetched once under concurrency. */
export class TokenCache {
  readonly #kept = new Map<string, { token: Promise<Token>; freshUntil: number }>();
  readonly #seen = new Set<string>();

  constructor(
    readonly source: TokenSource,
    private readonly http: Dispatcher,
    private readonly clock: Clock,
  ) {}

  async get(scope: string): Promise<string> {
    const kept = this.#kept.get(scope);
    if (kept && kept.freshUntil > this.clock.now()) return (await kept.token).value;
    const entry = { token: this.source.fetch(scope, this.http), freshUntil: Number.POSITIVE_INFINITY };
    this.#kept.set(scope, entry);
    try {
      const { value, lifetimeMs } = await entry.token;
      if (!fitsHeader(value))
        throw new TokenError(
          `the token from ${this.source.origin} has characters that an HTTP header cannot carry`,
        );
      this.#seen.add(value);
      if (lifetimeMs !== undefined) {
        entry.freshUntil = this.clock.now() + lifetimeMs - Math.min(30_000, lifetimeMs * 0.1);
      }
      return value;
    } catch (error) {
      if (this.#kept.get(scope) === entry) this.#kept.delete(scope);
      throw error;
    }
  }

  /** Forgets a token that was refused, unless a newer one has taken its place. */
  async drop(scope: string, refused: string): Promise<void> {
    const kept = this.#kept.get(scope);
    if (
      kept &&
      (await kept.token.catch(() => undefined))?.value === refused &&
      this.#kept.get(scope) === kept
    ) {
      this.#kept.delete(scope);
    }
  }

  /** The same text with every secret of the source and every token it gave masked. */
  redact(text: string): string {
    let redacted = text;
    for (const secret of [...this.source.secrets, ...this.#seen]) {
      redacted = redactSecret(redacted, secret);
    }
    return redacted;
  }
}

/** A JWT says when it expires; where the clocks disagree, its whole lifetime counts instead. */
function jwtLifetimeMs(token: string): number | undefined {
  const payload = parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { iat, exp } = (payload ?? {}) as { iat?: unknown; exp?: unknown };
  if (typeof exp !== "number") return undefined;
  const now = Date.now() / 1000;
  const issued = typeof iat === "number" ? iat : now;
  return (exp - (issued <= now && now < exp ? now : issued)) * 1000;
}

/** A text without its final full stop: the sentence around it has one. */
function withoutFullStop(text: string): string {
  return text.replace(/[.;:\s]+$/, "");
}

const mask = "[secret]";

/** A secret so short that it may be a part of any word. */
function wholeWord(secret: string): RegExp {
  const literal = secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<!\\w)${literal}(?!\\w)`, "g");
}

/** The same text without a secret, as it is and as it stands in a form or an address. */
export function redactSecret(text: string, secret: string): string {
  if (!secret) return text;
  return [secret, encodeURIComponent(secret)].reduce(
    (left, form) => (secret.length < 8 ? left.replace(wholeWord(form), mask) : left.replaceAll(form, mask)),
    text,
  );
}

/** Long unbroken words may be secrets that we cannot know. */
function redactLongWords(text: string): string {
  return text.replace(/[\w+/=.-]{20,}/g, "[masked]");
}
