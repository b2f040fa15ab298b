import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createSigner, createVerifier } from "fast-jwt";
import { routes } from "../../contract";
import { ServiceError } from "../base/error";
import type { Basis } from "../files/basis";

/** Seconds for which a token holds; the specification shows no lifetime. */
export const tokenLifetimeSec = 60 * 60;

/** What a token says, as the service signed it. */
interface TokenPayload {
  readonly scope?: unknown;
  readonly exp?: unknown;
}

const scopes = new Set<string>(Object.values(routes).map((route) => route.path));

/** Issues and checks the tokens of one service. */
export class Tokens {
  private readonly sign: (payload: TokenPayload) => string;
  private readonly key: Buffer;
  private readonly verify: (token: string) => TokenPayload;

  constructor(private readonly context: Pick<Basis, "secrets" | "clock">) {
    const key = context.secrets.signing;
    this.key = Buffer.from(context.secrets.key);
    this.sign = createSigner({ key, algorithm: "HS256", noTimestamp: true });
    // Expiry is checked below, by the service's own clock.
    this.verify = createVerifier({ key, algorithms: ["HS256"], ignoreExpiration: true, cache: true });
  }

  /** Answers a client-credentials request (RFC 6749, 4.4): the secret is the API key, the scope a path of the API. */
  issue(form: Record<string, unknown>, authorization: string | undefined) {
    const secret = basicPassword(authorization) ?? form.client_secret;
    if (form.grant_type !== "client_credentials") {
      throw new ServiceError("BAD_REQUEST", "grant_type must be client_credentials.");
    }
    if (typeof secret !== "string" || !this.isKey(secret)) {
      throw new ServiceError(
        "UNAUTHENTICATED",
        "client_secret is not the API key; it lies in the file `key` of the data folder.",
      );
    }
    if (typeof form.scope !== "string" || !scopes.has(form.scope)) {
      throw new ServiceError(
        "BAD_REQUEST",
        "scope must be the path of one operation, as in /create-project.",
      );
    }
    const exp = Math.floor(this.context.clock.now() / 1000) + tokenLifetimeSec;
    const accessToken = this.sign({ scope: form.scope, exp });
    return {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: tokenLifetimeSec,
      scope: form.scope,
    };
  }

  /** Lets a call pass whose key and token are good for its scope. */
  check(headers: IncomingHttpHeaders, scope: string): void {
    this.checkKey(headers);
    const token = /^Bearer +(\S+)$/i.exec(String(headers.authorization ?? ""))?.[1];
    if (!token) {
      throw unauthenticated(
        `The header Authorization: Bearer <token> is missing; get a token for the scope ${scope} from /oauth/token.`,
      );
    }
    const payload = this.payloadOf(token);
    if (!payload || Number(payload.exp) * 1000 <= this.context.clock.now()) {
      throw unauthenticated(
        `The access token is ${payload ? "expired" : "not valid"}; get a new one for the scope ${scope} from /oauth/token.`,
      );
    }
    if (payload.scope !== scope) {
      throw new ServiceError(
        "FORBIDDEN",
        `The access token is for the scope ${String(payload.scope)}; get one for the scope ${scope} from /oauth/token.`,
      );
    }
  }

  /** Lets a call pass that shows the key. */
  checkKey({ apikey }: IncomingHttpHeaders): void {
    if (typeof apikey !== "string")
      throw unauthenticated(
        "The header APIKey is missing; the key lies in the file `key` of the data folder.",
      );
    if (!this.isKey(apikey))
      throw unauthenticated(
        "The APIKey is not this service's; the key lies in the file `key` of the data folder.",
      );
  }

  private payloadOf(token: string): TokenPayload | undefined {
    try {
      return this.verify(token);
    } catch {
      return undefined;
    }
  }

  private isKey(text: string): boolean {
    const given = Buffer.from(text);
    return given.length === this.key.length && timingSafeEqual(given, this.key);
  }
}

function unauthenticated(message: string): ServiceError {
  return new ServiceError("UNAUTHENTICATED", message, { headers: { "www-authenticate": "Bearer" } });
}

function basicPassword(authorization: string | undefined): string | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!encoded) return undefined;
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  try {
    return password === undefined ? undefined : decodeURIComponent(password);
  } catch {
    return password;
  }
}
