import { exec } from "node:child_process";
import type { Dispatcher } from "undici";
import { z } from "zod";
import { withoutFullStop } from "../../contract/messages";
import type { Clock } from "../clock";
import { mask, maskEncoded } from "../encoded-secrets";
import { TokenError } from "../errors";
import { escapeRegExp, fitsHeader, parseJson } from "../parse";
import { defaultBodyMs, readBody } from "./body";
import { readErrorBody } from "./error-body";
import { unreachableReason } from "./retry";

/** An access token and its lifetime. */
interface Token {
  readonly value: string;
  /** Lifetime in milliseconds from when the token was received, if known. */
  readonly lifetimeMs?: number | undefined;
}

/** A source of access tokens. */
export interface TokenSource {
  /** Name of the source in errors. */
  readonly origin: string;
  /** Texts that must not appear in errors. */
  readonly secrets: readonly string[];
  /**
   * Whether the source rejects scopes that the credentials do not have. Other sources return one token for all scopes.
   */
  readonly refusesScopes?: true;
  /** Requests a token. `bodyMs` limits the time to read the response. */
  fetch(scope: string, http: Dispatcher, bodyMs?: number): Promise<Token>;
}

/** Returns a token source that uses one token for every scope. */
export function fixedToken(value: string, origin = "accessToken"): TokenSource {
  return { origin, secrets: [value], fetch: async () => ({ value }) };
}

/** Returns a source that runs a shell command, which prints a token for the scope in `RECOMMENDER_SCOPE`. */
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
          const complaint = redactLongWords(stderr.trim().split("\n").at(-1) ?? "");
          const how =
            error.killed && error.code == null
              ? `printed no token within ${timeoutMs} ms`
              : error.code == null
                ? `was killed by ${error.signal}`
                : `exited with code ${error.code}`;
          // The error of `exec` is not passed on as `cause`, because it quotes the command, which may contain a secret.
          reject(
            new TokenError(`${origin} ${how} for the scope ${scope}${complaint ? `: ${complaint}` : ""}`),
          );
        } else if (value === "" || /\s/.test(value)) {
          const what = value === "" ? "nothing" : "more than one word";
          reject(
            new TokenError(`${origin} printed ${what} for the scope ${scope}; it must print only the token`),
          );
        } else resolve({ value, lifetimeMs: jwtLifetimeMs(value) });
      });
    });
  return { origin, secrets: [], fetch };
}

/** A token endpoint, with the credentials of a client. */
export interface TokenEndpoint {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly origin?: string;
  /** Name of the credentials in errors. Default: `clientId and clientSecret`. */
  readonly credentials?: string;
  /** Command that shows the credentials, for error messages. Default: `recommender whoami`. */
  readonly whoami?: string | undefined;
}

const tokenReply = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().nullish().catch(undefined),
});

/** Returns a source that requests tokens with OAuth 2 client credentials. The scope is the path of the operation. */
export function endpointToken(endpoint: TokenEndpoint): TokenSource {
  const { url, clientId, clientSecret, origin = `tokenUrl ${url}`, whoami = "recommender whoami" } = endpoint;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const { origin: host, pathname, search } = new URL(url);
  const fetch = async (scope: string, http: Dispatcher, bodyMs = defaultBodyMs): Promise<Token> => {
    const options = {
      origin: host,
      path: pathname + search,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: new URLSearchParams({ ...form, scope }).toString(),
    } as const;
    const response = await http.request(options).catch((cause: Error) => {
      const unreachable = unreachableReason(host, cause);
      const message = unreachable ?? `${origin} did not respond: ${cause.message}`;
      throw new TokenError(message, { cause, transient: true, isUnreachable: unreachable !== undefined });
    });
    const { statusCode } = response;
    const text = await readBody(response, bodyMs).catch((cause: Error) => {
      const message = `${origin} sent an incomplete response: ${cause.message}`;
      throw new TokenError(message, { cause, transient: true });
    });
    if (statusCode >= 300) throw endpointError({ ...endpoint, origin }, scope, statusCode, text);
    const json = parseJson(text);
    const reply = tokenReply.safeParse(json).data;
    if (!reply) {
      const transient = json === undefined && text.trimStart().startsWith("{");
      const { message, shape } = readErrorBody(redactSecret(text, clientSecret));
      const reason = shape === "HTML" ? `: ${message}` : "";
      const hint = `Check with \`${whoami}\`.`;
      throw new TokenError(`${origin} returned ${statusCode} without an access_token${reason}. ${hint}`, {
        transient,
      });
    }
    const { access_token: value, expires_in: seconds } = reply;
    return { value, lifetimeMs: seconds == null ? jwtLifetimeMs(value) : seconds * 1000 };
  };
  return { origin, secrets: [clientSecret], refusesScopes: true, fetch };
}

/**
 * Returns the error for a token endpoint's error response: rejected credentials, a rejected scope, or another failure.
 */
function endpointError(endpoint: TokenEndpoint, scope: string, statusCode: number, text: string): TokenError {
  const { origin, credentials = "clientId and clientSecret", whoami = "recommender whoami" } = endpoint;
  const { code = "", message } = readErrorBody(redactSecret(text, endpoint.clientSecret));
  const status = `${statusCode}${code && ` ${code}`}`;
  if (statusCode === 401 || code === "invalid_client") {
    const rejected = `${origin} rejects ${credentials} (${status}). Check with \`${whoami}\`.`;
    return new TokenError(rejected, { refusal: "credentials" });
  }
  const reason = `${status}: ${withoutFullStop(message)}`;
  if (statusCode === 403 || code === "invalid_scope") {
    // If the message names the scope, it is clear enough without the name of the endpoint.
    const missing = message.includes(scope)
      ? `${withoutFullStop(message)}.`
      : `${origin} issues no token for the scope ${scope} (${reason}).`;
    const hint = `See which scopes get a token with \`${whoami}\`.`;
    return new TokenError(`${missing} ${hint}`, { refusal: "scope" });
  }
  const transient = statusCode === 429 || statusCode >= 500;
  return new TokenError(`${origin} did not issue a token for the scope ${scope} (${reason})`, {
    transient,
  });
}

/** Caches the tokens of a source per scope until shortly before they expire. Concurrent calls share one request. */
export class TokenCache {
  readonly #cache = new Map<string, { token: Promise<Token>; freshUntil: number }>();
  readonly #issued = new Set<string>();

  constructor(
    readonly source: TokenSource,
    private readonly http: Dispatcher,
    private readonly clock: Clock,
    private readonly bodyMs: number,
  ) {}

  async get(scope: string): Promise<string> {
    const cached = this.#cache.get(scope);
    if (cached && cached.freshUntil > this.clock.now()) return (await cached.token).value;
    const entry = {
      token: this.source.fetch(scope, this.http, this.bodyMs),
      freshUntil: Number.POSITIVE_INFINITY,
    };
    this.#cache.set(scope, entry);
    try {
      const { value, lifetimeMs } = await entry.token;
      if (!fitsHeader(value))
        throw new TokenError(
          `the token from ${this.source.origin} contains characters that are not allowed in an HTTP header`,
        );
      this.#issued.add(value);
      if (lifetimeMs !== undefined) {
        entry.freshUntil = this.clock.now() + lifetimeMs - Math.min(30_000, lifetimeMs * 0.1);
      }
      return value;
    } catch (error) {
      if (this.#cache.get(scope) === entry) this.#cache.delete(scope);
      throw error;
    }
  }

  /** Removes a rejected token from the cache, unless it was replaced by a newer one. */
  async drop(scope: string, rejected: string): Promise<void> {
    const cached = this.#cache.get(scope);
    if (
      cached &&
      (await cached.token.catch(() => undefined))?.value === rejected &&
      this.#cache.get(scope) === cached
    ) {
      this.#cache.delete(scope);
    }
  }

  /** Masks the source's secrets and all tokens that it has issued in a text. */
  redact(text: string): string {
    let redacted = text;
    for (const secret of [...this.source.secrets, ...this.#issued]) {
      redacted = redactSecret(redacted, secret);
    }
    return redacted;
  }
}

/**
 * Returns the remaining lifetime of a JWT. If the token is not valid at the time of our clock, the clock is probably
 * wrong, so the whole lifetime is returned.
 */
function jwtLifetimeMs(token: string): number | undefined {
  const payload = parseJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { iat, exp } = (payload ?? {}) as { iat?: unknown; exp?: unknown };
  if (typeof exp !== "number") return undefined;
  const now = Date.now() / 1000;
  const issued = typeof iat === "number" ? iat : now;
  const lifetimeMs = (exp - (issued <= now && now < exp ? now : issued)) * 1000;
  return lifetimeMs > 0 ? lifetimeMs : undefined;
}

/** Shorter secrets are masked only as whole words. */
const minSecretLength = 8;

/** Shorter secrets are not searched in base64, because any word may decode to a text with two or three given letters. */
const minEncodedLength = 4;

/** Matches a short secret only as a whole word, because it may be part of ordinary words. */
function wholeWord(secret: string): RegExp {
  return new RegExp(`(?<!\\w)${escapeRegExp(secret)}(?!\\w)`, "g");
}

/** Masks a secret in a text, in plain form and encoded for a URL, as HTML or as base64. */
export function redactSecret(text: string, secret: string): string {
  if (!secret) return text;
  const forms = [secret, encodeURIComponent(secret)];
  const isShort = secret.length < minSecretLength;
  const maskPlain = (plain: string) =>
    forms.reduce(
      (rest, form) => (isShort ? rest.replace(wholeWord(form), mask) : rest.replaceAll(form, mask)),
      plain,
    );
  return secret.length < minEncodedLength ? maskPlain(text) : maskEncoded(text, maskPlain);
}

/** Masks long words, because they may be unknown secrets. */
function redactLongWords(text: string): string {
  return text.replace(/[\w+/=.-]{20,}/g, "[masked]");
}
