import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createSigner, createVerifier } from "fast-jwt";
import { LRUCache } from "lru-cache";
import { ServiceError } from "../base/error";
import { everyScope, foldScopes, operationScopes } from "../base/scopes";
import type { ServiceContext } from "../files/service-context";
import { type Client, clientIdIn, clientOf, keyName, publicIdIn } from "../store/clients";

/** Lifetime of a token in seconds. The specification does not state one. */
export const tokenLifetimeSec = 60 * 60;

/** Maximum number of cached tokens, which take a few hundred bytes each. */
const mostVerified = 10_000;

/** The signed content of a token. */
interface TokenPayload {
  readonly scope?: unknown;
  readonly exp?: unknown;
  /** The id of the client. Absent if the token was issued for the service's own key. */
  readonly client?: unknown;
}

/** The caller: a client, or somebody with the service's own key, which allows everything. */
export type Caller = Pick<Client, "name" | "scopes"> & { readonly id: string | undefined };

const keyHolder: Caller = { id: undefined, name: keyName, scopes: [...everyScope] };

/** Issues and verifies the access tokens of a service. */
export class Tokens {
  private readonly sign: (payload: TokenPayload) => string;
  private readonly key: Buffer;
  private readonly verify: (token: string) => TokenPayload;
  /** Caches tokens with a verified signature. The verifier's own cache would hash the token on every call. */
  private readonly verified = new LRUCache<string, TokenPayload>({ max: mostVerified });

  constructor(private readonly context: Pick<ServiceContext, "secrets" | "clock" | "store">) {
    const key = context.secrets.signing;
    this.key = Buffer.from(context.secrets.key);
    this.sign = createSigner({ key, algorithm: "HS256", noTimestamp: true });
    // Expiry is checked below with the service's own clock.
    this.verify = createVerifier({ key, algorithms: ["HS256"], ignoreExpiration: true });
  }

  /** Identifies the caller that requests a token (RFC 6749, 4.4): a client by name and secret, or the API key. */
  async askerOf(form: Record<string, unknown>, authorization: string | undefined): Promise<Caller> {
    const { id, secret } = basicCredentials(authorization) ?? {
      id: form.client_id,
      secret: form.client_secret,
    };
    if (typeof secret === "string") refusePublic(secret);
    const caller = typeof secret === "string" ? await this.callerBy(secret) : undefined;
    if (caller && (caller === keyHolder || caller.name === id)) return caller;
    throw new ServiceError(
      "UNAUTHENTICATED",
      "client_secret is neither the API key (in the file `key` of the data directory) nor the secret of the client in " +
        "client_id. `recommender clients list` shows the clients.",
    );
  }

  /** Issues a token for a client-credentials request. The scope is the API path that the token allows. */
  issue(caller: Caller, { grant_type, scope }: Record<string, unknown>) {
    if (grant_type !== "client_credentials") {
      throw new ServiceError("BAD_REQUEST", "grant_type must be client_credentials.");
    }
    if (typeof scope !== "string" || !operationScopes.has(scope)) {
      throw new ServiceError(
        "BAD_REQUEST",
        "scope must be the path of one operation, as in /create-project.",
      );
    }
    refuseBeyond(caller, scope);
    const exp = Math.floor(this.context.clock.now() / 1000) + tokenLifetimeSec;
    const accessToken = this.sign({ scope, exp, ...(caller.id !== undefined && { client: caller.id }) });
    return { access_token: accessToken, token_type: "Bearer", expires_in: tokenLifetimeSec, scope };
  }

  /** Checks that the key and the token allow a scope, and returns the caller. */
  async check(headers: IncomingHttpHeaders, scope: string): Promise<Caller> {
    const key = keyIn(headers);
    const isKey = this.isKey(key);
    const clientId = isKey ? undefined : clientIdIn(key);
    if (!isKey && clientId === undefined) throw notOurs();
    const token = /^Bearer +(\S+)$/i.exec(String(headers.authorization ?? ""))?.[1];
    if (!token) {
      throw unauthenticated(
        `The header Authorization: Bearer <token> is missing. Get a token for the scope ${scope} from /oauth/token.`,
      );
    }
    const payload = this.payloadOf(token);
    if (!payload || Number(payload.exp) * 1000 <= this.context.clock.now()) {
      throw unauthenticated(
        `The access token is ${payload ? "expired" : "not valid"}. Get a new one for the scope ${scope} from /oauth/token.`,
      );
    }
    if (payload.client !== clientId) {
      throw unauthenticated(
        "The access token was issued to a different client than the APIKey. Get a token from /oauth/token with the same secret.",
      );
    }
    // The database is read last, so callers without a valid token cannot put load on it.
    const caller = isKey ? keyHolder : await clientOf(this.context.store.db, key);
    if (!caller) throw notOurs();
    if (payload.scope !== scope) {
      throw new ServiceError(
        "FORBIDDEN",
        `The access token is for the scope ${String(payload.scope)}. Get one for the scope ${scope} from /oauth/token.`,
      );
    }
    refuseBeyond(caller, scope);
    return caller;
  }

  /** Checks a call that needs no token, only the API key or the secret of a client with the scope. */
  async checkSecret(headers: IncomingHttpHeaders, scope: string): Promise<Caller> {
    const caller = await this.callerBy(keyIn(headers));
    if (!caller) throw notOurs();
    refuseBeyond(caller, scope);
    return caller;
  }

  /** Checks that a call has the service's own key. */
  checkKey(headers: IncomingHttpHeaders): void {
    if (!this.isKey(keyIn(headers))) throw notOurs();
  }

  private async callerBy(secret: string): Promise<Caller | undefined> {
    return this.isKey(secret) ? keyHolder : clientOf(this.context.store.db, secret);
  }

  private payloadOf(token: string): TokenPayload | undefined {
    const verified = this.verified.get(token);
    if (verified) return verified;
    try {
      const payload = this.verify(token);
      this.verified.set(token, payload);
      return payload;
    } catch {
      return undefined;
    }
  }

  private isKey(text: string): boolean {
    const given = Buffer.from(text);
    return given.length === this.key.length && timingSafeEqual(given, this.key);
  }
}

function refuseBeyond({ name, scopes }: Caller, scope: string): void {
  if (scopes.includes(scope)) return;
  const words = foldScopes([...scopes, scope]).join(",");
  throw new ServiceError(
    "FORBIDDEN",
    `The client ${name} does not have the scope ${scope}. An operator can add it with ` +
      `\`recommender clients update ${name} --scopes ${words}\`.`,
  );
}

function refusePublic(key: string): void {
  if (publicIdIn(key) === undefined) return;
  throw new ServiceError(
    "FORBIDDEN",
    "A public key can only be used for recommendations, without a token. For everything else, use the secret of a client.",
  );
}

function keyIn({ apikey }: IncomingHttpHeaders): string {
  if (typeof apikey === "string") {
    refusePublic(apikey);
    return apikey;
  }
  throw unauthenticated(
    "The header APIKey is missing. Send the key from the file `key` in the data directory, or the secret of a client.",
  );
}

function notOurs(): ServiceError {
  return unauthenticated(
    "The APIKey is wrong: it is neither the key of this service (in the file `key` of the data directory) nor the " +
      "secret of a client that has not been revoked.",
  );
}

function unauthenticated(message: string): ServiceError {
  return new ServiceError("UNAUTHENTICATED", message, { headers: { "www-authenticate": "Bearer" } });
}

function basicCredentials(authorization: string | undefined): { id: string; secret: string } | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (!encoded) return undefined;
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return id === undefined || secret === undefined ? undefined : { id: decoded(id), secret: decoded(secret) };
}

/** Decodes a part of Basic credentials. OAuth requires form encoding, but some clients send plain text. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
