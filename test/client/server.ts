import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Client, type ClientOptions, fixedToken } from "../../client/client";
import type { Clock } from "../../client/clock";

/** A recorded request. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: IncomingMessage["headers"];
  readonly raw: Buffer;
  readonly body: unknown;
}

/** Responds to a request. */
export type Answer = (request: Arrived, response: ServerResponse) => unknown;

/** Starts an HTTP server that records requests and responds in the given order. The last response repeats. */
export async function scriptedServer(...answers: Answer[]) {
  const arrived: Arrived[] = [];
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const url = new URL(message.url ?? "", "http://x");
    const text = message.headers["content-encoding"] === "gzip" ? gunzipSync(raw).toString() : raw.toString();
    const json = message.headers["content-type"] === "application/json";
    const request: Arrived = {
      method: message.method ?? "",
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: message.headers,
      raw,
      body: json && text ? JSON.parse(text) : text,
    };
    arrived.push(request);
    const answer = answers[Math.min(arrived.length, answers.length) - 1];
    await answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Responds with a status, a body and headers. */
export function reply(status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  };
}

/** Resets the connection instead of responding. */
export const reset: Answer = (_, response) => response.socket?.resetAndDestroy();

/** Responds with a success, and closes the connection in the middle of the body. */
export const cutOff: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"event_dataset_id":"d', () => response.socket?.destroy());
};

/** A clock that advances only when something sleeps. */
export class TestClock implements Clock {
  readonly slept: number[] = [];
  time = 1_800_000_000_000;

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(ms);
    this.time += ms;
  }
}

/** Creates a client for a scripted server, with a test clock and maximum jitter. */
export function clientOf(server: { url: string }, options: Partial<ClientOptions> = {}) {
  const clock = new TestClock();
  const client = new Client({
    baseUrl: server.url,
    apiKey: "key-0123456789",
    token: fixedToken("token-abcdef"),
    clock,
    random: () => 1,
    ...options,
  });
  return { client, clock };
}

/** Answers with a body that never ends. */
export const drip: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};
