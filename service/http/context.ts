import type { Context } from "../handlers/handler";
import type { Idempotency } from "./idempotency";
import type { Tokens } from "./token";

/** What the calls of a service are answered with. */
export interface ServerContext extends Context {
  readonly tokens: Tokens;
  readonly idempotency: Idempotency;
  readonly startedTs: number;
}
