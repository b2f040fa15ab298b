import type { Context } from "../handlers/handler";
import type { Idempotency } from "./idempotency";
import type { PublicKeys } from "./public-keys";
import type { Tokens } from "./token";

/** Everything that the HTTP routes use. */
export interface ServerContext extends Context {
  readonly tokens: Tokens;
  readonly publicKeys: PublicKeys;
  readonly idempotency: Idempotency;
  readonly startedTs: number;
}
