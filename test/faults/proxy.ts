import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent } from "undici";
import { idempotencyHeader } from "../../contract";

/** Complete response of the service. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Call in the proxy. */
export interface Passage {
  /** Method and path, such as `POST /create-project`. */
  readonly call: string;
  /** Path with its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Response to the caller. */
  readonly response: ServerResponse;
  /** Headers by which a response to the caller shows that it comes from the service itself. */
  readonly ownHeaders: Readonly<Record<string, string>>;
  /** Forwards the request. Resolves when the service has executed it. */
  pass(): Promise<Answer>;
}

/** Handles a call instead of forwarding it. */
export type Fault = (passage: Passage) => void | Promise<void>;

/** Call that the service has answered. */
export interface Taken {
  readonly call: string;
  /** URL with its query. */
  readonly url: string;
  readonly status: number;
  /** Idempotency key of the caller, even if the proxy has removed it. */
  readonly key: string | undefined;
  readonly body: string;
  /** Response body. */
  readonly answer: string;
}

interface Rule {
  readonly call: string;
  readonly fault: Fault;
  skip: number;
  times: number;
}

/** Proxy of a service that injects faults into calls and records what has reached the service. */
export class FaultProxy {
  /** All calls, including faults and tokens. */
  readonly came: string[] = [];
  /** Calls that the service has answered, in order. */
  readonly taken: Taken[] = [];
  /** Whether to hide that the service honours idempotency keys. */
  hidesKeys = false;
  #rules: Rule[] = [];
  readonly #passing = new Set<Promise<Answer>>();
  readonly #agent = new Agent({ connections: 128 });
  readonly #server = createServer((request, response) => {
    // Ignore the broken connection of a killed caller.
    for (const stream of [request, response]) stream.on("error", () => undefined);
    void this.#carry(request, response).catch(() => response.destroy());
  });

  private constructor(private readonly service: { readonly url: string }) {}

  static async start(service: { readonly url: string }): Promise<FaultProxy> {
    const proxy = new FaultProxy(service);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * Applies a fault to a call (`*`: all calls of the API), from the nth on, for a number of times.
   * Returns a function that removes the fault.
   */
  on(call: string, fault: Fault, { nth = 1, times = 1 }: { nth?: number; times?: number } = {}): () => void {
    const rule = { call, fault, skip: nth - 1, times };
    this.#rules.push(rule);
    return () => {
      rule.times = 0;
    };
  }

  /** Removes all faults. */
  heal(): void {
    this.#rules = [];
  }

  /** Resolves when no call is in flight. */
  async quiet(): Promise<void> {
    while (this.#passing.size > 0) await Promise.allSettled(this.#passing);
  }

  /** Removes all faults and recorded calls. */
  clear(): void {
    this.heal();
    this.came.length = 0;
    this.taken.length = 0;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#agent.destroy();
  }

  async #carry(request: IncomingRequest, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? "").split("?")[0];
    const call = `${request.method} ${path.replace(/^\/serving\/[^/]+/, "")}`;
    const body = Buffer.concat(chunks);
    const pass = () => {
      const passing = this.#pass(request, body, call);
      this.#passing.add(passing);
      return passing.finally(() => this.#passing.delete(passing));
    };
    const ownHeaders: Record<string, string> = this.hidesKeys ? {} : { [idempotencyHeader]: "POST" };
    const url = request.url ?? "";
    const passage = { call, url, headers: request.headers, body, response, ownHeaders, pass };
    this.came.push(call);
    const fault = this.#faultOf(call);
    if (fault) await fault(passage);
    else send(response, await passage.pass());
  }

  async #pass(request: IncomingRequest, body: Buffer, call: string): Promise<Answer> {
    const { host: _, connection: __, "transfer-encoding": ___, ...headers } = request.headers;
    const key = headers["idempotency-key"] as string | undefined;
    if (this.hidesKeys) delete headers["idempotency-key"];
    if (headers.authorization) headers.authorization = headers.authorization.split("~")[0] as string;
    const reply = await this.#agent.request({
      origin: this.service.url,
      path: request.url ?? "/",
      method: request.method as "GET",
      headers,
      body: body.length > 0 ? body : null,
    });
    // Addresses in responses point to the proxy, as with a real proxy.
    const text = (await reply.body.text())
      .replaceAll(this.service.url, this.url)
      // Two tokens of the same second would be equal, even if one was rejected.
      .replace(/("access_token":"[^"]+)/, `$1~${this.came.length}`);
    this.taken.push({
      call,
      url: request.url ?? "",
      status: reply.statusCode,
      key,
      body: body.toString(),
      answer: text,
    });
    const kept = Object.entries(reply.headers).filter(
      ([name]) =>
        !["connection", "keep-alive", "content-length", "transfer-encoding"].includes(name) &&
        !(this.hidesKeys && [idempotencyHeader, "idempotent-replayed"].includes(name)),
    );
    return {
      status: reply.statusCode,
      headers: Object.fromEntries(kept) as Record<string, string>,
      body: Buffer.from(text),
    };
  }

  #faultOf(call: string): Fault | undefined {
    for (const rule of this.#rules) {
      const meant = rule.call === call || (rule.call === "*" && call !== "POST /oauth/token");
      if (!meant || rule.times === 0) continue;
      if (rule.skip > 0) {
        rule.skip--;
        continue;
      }
      rule.times--;
      return rule.fault;
    }
    return undefined;
  }
}

type IncomingRequest = Parameters<Parameters<typeof createServer>[1] & object>[0];

/** Sends the response of the service. */
export function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, "content-length": String(body.length) }).end(body);
}
