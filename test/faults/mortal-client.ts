import { Client } from "../../client/client";
import type { Clock } from "../../client/clock";
import type { TokenSource } from "../../client/http/credentials";

/** Time as the lifecycles see it, a hundred times as fast. */
const began = Date.now();
export const fastClock: Clock = {
  now: () => began + (Date.now() - began) * 100,
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms / 100, 50))),
};

/** Tokens by address and scope, and until when they are kept. */
const tokens = new Map<string, { token: ReturnType<TokenSource["fetch"]>; untilMs: number }>();

/** A source whose tokens serve all runs: they are half of all calls, and no sequence does harm to them. */
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

/** A client whose process can be killed: calls under way break off, and whoever waits for one waits for ever. */
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
