import type { SpanContext } from "./span-context";

/** Values that describe a span. They must contain no secrets and no user ids. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Role of a span, numbered as in OTLP. */
export const spanKinds = { internal: 1, server: 2, client: 3, consumer: 5 } as const;

/** Description of a span that begins. */
export interface SpanStart {
  readonly name: string;
  /** Default: internal. */
  readonly kind?: keyof typeof spanKinds;
  readonly attributes?: Attributes;
}

/** A span that has ended. */
export interface EndedSpan extends Required<SpanStart> {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
}

/** One piece of work in a trace, from its start to its end. */
export class Span {
  #attributes: Attributes;
  #failed = false;
  #ended = false;

  constructor(
    private readonly start: SpanStart,
    readonly context: SpanContext,
    private readonly parentId: string | undefined,
    private readonly startMs: number,
    private readonly now: () => number,
    private readonly onEnd: (span: EndedSpan) => void,
  ) {
    this.#attributes = start.attributes ?? {};
  }

  /** Adds attributes. */
  set(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** Marks the span as failed. The message of an error is left out, because it may contain user ids. */
  fail(type: string): void {
    this.#failed = true;
    this.set({ "error.type": type });
  }

  /** Ends the span. Only the first call counts. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.context.sampled) return;
    const { name, kind = "internal" } = this.start;
    const { context, parentId, startMs } = this;
    this.onEnd({
      name,
      kind,
      attributes: this.#attributes,
      context,
      parentId,
      startMs,
      endMs: this.now(),
      failed: this.#failed,
    });
  }
}

/** Returns the type of an error for {@link Span.fail}: its code, unless that may contain other text, or its class. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" && /^[A-Z_\d]{1,64}$/.test(code) ? code : error.name;
}
