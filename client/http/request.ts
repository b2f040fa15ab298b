import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { encode, type Route, tolerant } from "../../contract";
import { InputError } from "../errors";
import type { CallOptions, ClientOptions } from "./options";

/** Bodies above this size are compressed. */
const gzipAboveBytes = 1024;
const compress = promisify(gzip);

/** A call that is ready to be sent, as often as it takes. */
export interface PreparedRequest {
  readonly route: Route;
  readonly url: URL;
  readonly body: Buffer | string | null;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
  readonly onReplayed: (() => void) | undefined;
  readonly hasFallback: boolean;
  /** Ids in the request, by their names on the wire: an error of the service names one of them. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Turns calls of the API into requests, with the address and the key of a client. */
export class Requests {
  constructor(private readonly options: Pick<ClientOptions, "baseUrl" | "apiKey" | "gzip" | "stop">) {}

  /** The request of a call; throws if the input does not fit the contract. */
  async fromInput(route: Route, input: unknown, options: CallOptions): Promise<PreparedRequest> {
    // Limits that only our own service has are for another service to judge.
    const schema = tolerant(route.request);
    const checked = schema.safeParse(input);
    if (!checked.success) throw new InputError(route, checked.error.issues);
    const request = encode(schema, checked.data) as Record<string, unknown>;
    const prepared = { ...this.#envelope(route, options), ids: idsIn(request) };
    if (route.method !== "GET") return this.#withBody(prepared, JSON.stringify(request), options);
    for (const [key, value] of Object.entries(request)) prepared.url.searchParams.set(key, String(value));
    return prepared;
  }

  /** The request of a call whose body is serialized already, in the form it has on the wire. */
  fromBody(route: Route, body: Buffer, options: CallOptions): Promise<PreparedRequest> {
    return this.#withBody(this.#envelope(route, options), body, options);
  }

  #envelope(route: Route, options: CallOptions): PreparedRequest {
    const { baseUrl = this.options.baseUrl, signal, onReplayed, hasFallback = false } = options;
    const until = signal ?? (route.method === "GET" ? this.options.stop : undefined);
    until?.throwIfAborted();
    const url = new URL(baseUrl.replace(/\/+$/, "") + route.path);
    const headers = { ...options.headers, accept: "application/json", apikey: this.options.apiKey };
    return { route, url, headers, signal: until, onReplayed, hasFallback, ids: {}, body: null };
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
    // Each piece of the output costs a turn of the event loop: few and large ones.
    const packed = await compress(body, { level: 1, chunkSize: Math.max(1024, bytes >> 2) });
    return { ...prepared, headers, body: packed };
  }
}

/** Ids of objects in a request. Ids of users are left out: they are personal data, and errors show these ids. */
function idsIn(request: Record<string, unknown>): Record<string, string> {
  const isId = ([key, value]: [string, unknown]) =>
    key.endsWith("_id") && key !== "user_id" && typeof value === "string";
  return Object.fromEntries(Object.entries(request).filter(isId)) as Record<string, string>;
}
