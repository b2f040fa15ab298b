import { errorIn, notFromService, RecommenderError } from "./errors.js";
import type { RecommenderOptions } from "./types.js";

/** A token is renewed when this share of its lifetime has passed. Until it expires, calls use the old one. */
const renewAfter = 0.8;

/** Time to wait for a token. */
const tokenMs = 10_000;

interface Token {
  readonly text: string;
  readonly renewTs: number;
  readonly endTs: number;
}

/** Sends calls to the service, with a public key, or with a secret and tokens. */
export class Transport {
  private readonly base: string;
  private readonly tokens = new Map<string, Token>();
  private readonly requests = new Map<string, Promise<Token>>();

  constructor(private readonly options: RecommenderOptions) {
    const { url, key } = options;
    this.base = url.replace(/\/+$/, "");
    if (!/^https?:\/\//.test(this.base))
      throw new TypeError(`url must start with https:// or http://, not ${url}.`);
    if (typeof key !== "string" || key === "") throw new TypeError("key is missing.");
    if (!this.isPublic && "document" in globalThis)
      throw new TypeError(
        "This key is a secret, and everybody can read the source of a page. Use a public key, which begins with rp_.",
      );
  }

  private get isPublic(): boolean {
    return this.options.key.startsWith("rp_");
  }

  /** Sends a call and returns the body of the response. */
  async post(path: string, input: object, signal: AbortSignal): Promise<unknown> {
    const authorization = this.isPublic ? undefined : `Bearer ${(await this.token(path)).text}`;
    const response = await this.send(`${this.base}${path}`, {
      method: "POST",
      headers: {
        apikey: this.options.key,
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify(input),
      signal,
    });
    // The service may have been restarted with other secrets.
    if (response.status === 401) this.tokens.delete(path);
    if (!response.ok) throw await errorIn(response);
    return bodyOf(response);
  }

  private async token(scope: string): Promise<Token> {
    const known = this.tokens.get(scope);
    const now = Date.now();
    if (known && now < known.renewTs) return known;
    const request = this.requests.get(scope) ?? this.requestToken(scope);
    if (!known || now >= known.endTs) return request;
    request.catch(() => undefined);
    return known;
  }

  /** Requests a token. Calls that need the same one wait for the same request, also if one of them is aborted. */
  private requestToken(scope: string): Promise<Token> {
    const request = this.fetchToken(scope).finally(() => this.requests.delete(scope));
    this.requests.set(scope, request);
    return request;
  }

  private async fetchToken(scope: string): Promise<Token> {
    const {
      key,
      clientId = "",
      tokenUrl = `${this.base.replace(/\/serving\/.*$/, "")}/oauth/token`,
    } = this.options;
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: key, scope };
    const response = await this.send(tokenUrl, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
      signal: AbortSignal.timeout(tokenMs),
    });
    if (!response.ok) throw await errorIn(response);
    const { access_token: text, expires_in: seconds = 60 } = (await bodyOf(response)) as {
      access_token: string;
      expires_in?: number;
    };
    if (typeof text !== "string") throw notFromService();
    const now = Date.now();
    const token = { text, renewTs: now + seconds * 1000 * renewAfter, endTs: now + seconds * 1000 };
    this.tokens.set(scope, token);
    return token;
  }

  private send(url: string, init: RequestInit): Promise<Response> {
    // A redirect could take the key to another host.
    const safe = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" } as const;
    return fetch(url, { ...init, ...safe }).catch((cause) => {
      throw unreachable(cause);
    });
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause) => {
    throw unreachable(cause);
  });
  return JSON.parse(text);
}

function unreachable(cause: unknown): RecommenderError {
  return new RecommenderError(
    "UNREACHABLE",
    "The service cannot be reached. Check that its address is right and redirects nowhere, and that its certificate is valid.",
    { cause },
  );
}
