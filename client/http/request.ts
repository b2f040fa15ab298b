import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { encode, type Route, tolerant } from "../../contract";
import { InputError } from "../errors";
import type { CallOptions, ClientOptions } from "./options";

/** Size above which bodies are compressed. */
const gzipAboveBytes = 1024;
const compress = promisify(gzip);

/** A request that can be sent several times. */
export interface PreparedRequest {
  readonly route: Route;
  readonly url: URL;
  readonly body: Buffer | string | null;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
  readonly onReplayed: (() => void) | undefined;
  readonly hasFallback: boolean;
  /** Ids in the request by wire name. An error reply that names one of them comes from the service. */
  readonly ids: Readonly<Record<string, string>>;
  /** Request fields with a single value, by wire name. If a reply repeats such a field, it must have the same value. */
  readonly sent: Sent;
}

/**
 * Texts and numbers in a request, by wire name. Booleans are left out: in a reply, a boolean is a result and does not
 * identify the call.
 */
export type Sent = Readonly<Record<string, string | number>>;

/** Builds requests with a client's address and key. */
export class Requests {
  constructor(private readonly options: Pick<ClientOptions, "baseUrl" | "apiKey" | "gzip" | "stop">) {}

  /** Builds the request of a call. Throws if the input does not match the contract. */
  async fromInput(route: Route, input: unknown, options: CallOptions): Promise<PreparedRequest> {
    // Limits are not checked here: the service enforces its own, and other services may have different ones.
    const schema = tolerant(route.request);
    const checked = schema.safeParse(input);
    if (!checked.success) throw new InputError(route, checked.error.issues);
    const request = encode(schema, checked.data) as Record<string, unknown>;
    const prepared = { ...this.#envelope(route, options), ids: idsIn(request), sent: scalarsIn(request) };
    if (route.method !== "GET") return this.#withBody(prepared, JSON.stringify(request), options);
    for (const [key, value] of Object.entries(request)) prepared.url.searchParams.set(key, String(value));
    return prepared;
  }

  /** Builds a request from a body that is already in wire format. */
  fromBody(route: Route, body: Buffer, options: CallOptions): Promise<PreparedRequest> {
    return this.#withBody(this.#envelope(route, options), body, options);
  }

  #envelope(route: Route, options: CallOptions): PreparedRequest {
    const { baseUrl = this.options.baseUrl, signal, onReplayed, hasFallback = false, ids = {} } = options;
    const abortSignal = signal ?? (route.method === "GET" ? this.options.stop : undefined);
    abortSignal?.throwIfAborted();
    const url = new URL(baseUrl.replace(/\/+$/, "") + route.path);
    const headers = { ...options.headers, accept: "application/json", apikey: this.options.apiKey };
    return { route, url, headers, signal: abortSignal, onReplayed, hasFallback, ids, sent: ids, body: null };
  }

  async #withBody(
    prepared: PreparedRequest,
    body: Buffer | string,
    { idempotencyKey }: CallOptions,
  ): Promise<PreparedRequest> {
    const headers: Record<string, string> = { ...prepared.headers, "content-type": "application/json" };
    if (prepared.route.method === "POST") headers["idempotency-key"] = idempotencyKey ?? randomUUID();
    const bytes = Buffer.byteLength(body);
    if (this.options.gzip === false || bytes <= gzipAboveBytes) return { ...prepared, headers, body };
    headers["content-encoding"] = "gzip";
    // Use large output chunks, because each chunk takes a round trip through the event loop.
    const packed = await compress(body, { level: 1, chunkSize: Math.max(1024, bytes >> 2) });
    return { ...prepared, headers, body: packed };
  }
}

function scalarsIn(request: Record<string, unknown>): Sent {
  const isScalar = ([, value]: [string, unknown]) => ["string", "number"].includes(typeof value);
  return Object.fromEntries(Object.entries(request).filter(isScalar)) as Sent;
}

/** Returns the ids in a request, for error messages. User ids are omitted, because they are personal data. */
function idsIn(request: Record<string, unknown>): Record<string, string> {
  const isId = ([key, value]: [string, unknown]) =>
    key.endsWith("_id") && key !== "user_id" && typeof value === "string";
  return Object.fromEntries(Object.entries(request).filter(isId)) as Record<string, string>;
}
