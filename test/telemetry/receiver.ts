import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** A span that a process has exported. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes?: readonly OtlpAttribute[];
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Reads the spans of an OTLP request in JSON. */
export function spansIn(text: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(text) as OtlpRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => received(service, span)));
  });
}

function received(service: string, span: OtlpSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId, attributes = [], status } = span;
  return {
    service,
    name,
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    failed: status?.code === 2,
    attributes: valuesOf(attributes),
  };
}

function valuesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** A collector: receives OTLP over HTTP. */
export class Receiver {
  readonly spans: ReceivedSpan[] = [];
  /** Everything that was sent, to search it for secrets. */
  readonly texts: string[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  /** Status of the next responses. */
  status = 200;
  /** Address to which the next responses redirect. */
  location: string | undefined;
  readonly #server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks);
    const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
    this.headers.push(request.headers);
    this.texts.push(text);
    if (request.url === "/v1/traces" && this.status === 200) this.spans.push(...spansIn(text));
    const { location } = this;
    response
      .writeHead(this.status, { "content-type": "application/json", ...(location && { location }) })
      .end("{}");
  });

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Formats spans as a tree of lines, in the order in which they began. */
export function treeOf(spans: readonly ReceivedSpan[]): string {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const inOrder = [...spans].sort((a, b) => Number(a.startNs - b.startNs));
  const lines = (parent: string | undefined, depth: number): string[] =>
    inOrder
      .filter(({ parentSpanId }) =>
        parent === undefined
          ? parentSpanId === undefined || !known.has(parentSpanId)
          : parentSpanId === parent,
      )
      .flatMap(({ service, name, spanId }) => [
        `${"  ".repeat(depth)}${service}: ${name}`,
        ...lines(spanId, depth + 1),
      ]);
  return lines(undefined, 0).join("\n");
}
