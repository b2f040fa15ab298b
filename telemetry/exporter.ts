import { version } from "../package.json";
import { otlpJson } from "./otlp";
import type { TraceSettings } from "./settings";
import type { EndedSpan } from "./span";

/** Spans that may wait. Further spans are dropped, so a collector that is down costs no memory. */
const mostWaiting = 2048;
/** Spans in one request. */
const batchSize = 512;

/**
 * Sends spans to a collector, over OTLP with JSON.
 *
 * The official exporter needs Node 22. Its last versions for Node 20 take 29 MB with the SDK, most of it for metrics,
 * logs and protobuf, which every program with this package would install.
 */
export class Exporter {
  #waiting: EndedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #failures = 0;

  constructor(
    private readonly settings: Omit<TraceSettings, "sampler">,
    /** Called when spans cannot be sent, once until it works again. */
    private readonly onProblem: (message: string) => void,
  ) {}

  add(span: EndedSpan): void {
    if (this.#waiting.length >= mostWaiting) return;
    this.#waiting.push(span);
    if (this.#waiting.length >= batchSize) void this.flush();
    this.#timer ??= setTimeout(() => void this.flush(), this.settings.delayMs).unref();
  }

  /** Sends the waiting spans, and resolves when they were sent or dropped. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(async () => {
      while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, batchSize));
    });
    return this.#sending;
  }

  /** Whether the last request failed. Then it is not worth waiting for the next one. */
  get isFailing(): boolean {
    return this.#failures > 0;
  }

  async #send(spans: readonly EndedSpan[]): Promise<void> {
    const { url, headers, timeoutMs, resource } = this.settings;
    const reason = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: otlpJson(spans, resource, version),
      // The headers may contain a key, which another host must not get.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    }).then(
      async (response) => {
        await response.body?.cancel();
        return response.ok ? undefined : `it responds with ${response.status}`;
      },
      (error: Error & { cause?: { code?: string } }) => error.cause?.code ?? error.name,
    );
    if (reason === undefined) this.#failures = 0;
    else if (this.#failures++ === 0) {
      // The address may contain a password, or a key in its query.
      const { origin, pathname } = new URL(url);
      this.onProblem(`Cannot send traces to ${origin}${pathname}: ${reason}. They are dropped.`);
    }
  }
}
