import { Client } from "../../client/client";
import type { Clock } from "../../client/clock";
import type { TokenSource } from "../../client/http/credentials";

/** Clock of the lifecycles, a hundred times as fast. */
const began = Date.now();
export const fastClock: Clock = {
  now: () => began + (Date.now() - began) * 100,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms / 100, 50))),
};

/** Cached tokens by address and scope. */
const tokens = new Map<string, { token: ReturnType<TokenSource["fetch"]>; untilMs: number }>();

/** Token source with a cache for all runs. Token requests would be half of all calls, and no sequence tests them. */
export function lasting(source: TokenSource): TokenSource {
  const fetch: TokenSource["fetch"] = (scope, http) => {
    const key = `${source.origin} ${scope}`;
    const kept = tokens.get(key);
    if (kept && kept.untilMs > Date.now()) return kept.token;
    const token = source.fetch(scope, http);
    tokens.set(key, { token, untilMs: Date.now() + 60_000 });
    token.catch(() => tokens.delete(key));
    return token;
  };
  return { ...source, fetch };
}

/** Client whose process can be killed: its connections drop, and its calls never resolve. */
export class MortalClient extends Client {
  readonly #end = new AbortController();

  die(): void {
    this.#end.abort(new Error("killed"));
  }

  override call(...[route, input, options]: Parameters<Client["call"]>): Promise<never> {
    return this.#whileAlive(() =>
      super.call(route, input, { ...options, signal: this.#end.signal }),
    ) as Promise<never>;
  }

  override supports(route: Parameters<Client["supports"]>[0]): Promise<boolean> {
    return this.#whileAlive(() => super.supports(route));
  }

  async #whileAlive<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#end;
    const never = () => new Promise<never>(() => undefined);
    if (signal.aborted) return never();
    try {
      const reply = await work();
      return signal.aborted ? never() : reply;
    } catch (error) {
      if (signal.aborted) return never();
      throw error;
    }
  }
}
