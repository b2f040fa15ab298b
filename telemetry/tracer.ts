import { AsyncLocalStorage } from "node:async_hooks";
import type { Sampler } from "./settings";
import { type EndedSpan, errorType, Span, type SpanStart } from "./span";
import { randomId, type SpanContext } from "./span-context";

/** Starts spans, and knows which one is active. */
export class Tracer {
  readonly #active = new AsyncLocalStorage<SpanContext>();
  // `performance.now` is monotonic and has fractions of a millisecond, unlike `Date.now`.
  readonly #began = Date.now() - performance.now();

  constructor(
    private readonly sampler: Sampler,
    private readonly onEnd: (span: EndedSpan) => void,
    /** Parent of spans that begin outside of any other, such as the one in TRACEPARENT. */
    private readonly origin?: SpanContext,
  ) {}

  /** The active span, or the parent of this process. */
  get active(): SpanContext | undefined {
    return this.#active.getStore() ?? this.origin;
  }

  /** Starts a span. By default, its parent is the active span. */
  start(start: SpanStart, parent: SpanContext | undefined = this.active): Span {
    const traceId = parent?.traceId ?? randomId(16);
    const context = { traceId, spanId: randomId(8), sampled: this.sampler(traceId, parent) };
    return new Span(start, context, parent?.spanId, this.#now(), () => this.#now(), this.onEnd);
  }

  /** Runs work in a span, which fails if the work throws. */
  async run<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
    try {
      return await this.#active.run(span.context, () => work(span));
    } catch (error) {
      span.fail(errorType(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** Runs work with an active span of another process. */
  within<T>(context: SpanContext, work: () => T): T {
    return this.#active.run(context, work);
  }

  #now(): number {
    return this.#began + performance.now();
  }
}
