import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Client, type ClientOptions, fixedToken } from "../../client/client";
import type { Clock } from "../../client/clock";

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: IncomingMessage["headers"];
  readonly raw: Buffer;
  readonly body: unknown;
}

/** Answers one request. */
export type Answer = (request: Arrived, response: ServerResponse) => unknown;

/** A real HTTP server that keeps what arrived and answers by script; the last answer goes for all that follow. */
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

/** An answer with a status, a body and headers. */
export function reply(status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  };
}

/** Takes the request and breaks the connection instead of answering. */
export const reset: Answer = (_, response) => response.socket?.resetAndDestroy();

/** Answers success and breaks off in the middle of the body. */
export const cutOff: Answer = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"event_dataset_id":"d', () => response.socket?.destroy());
};

/** A clock that stands still except when somebody sleeps. */
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

/** A client for a scripted server, on a clock of its own and with the longest jitter. */
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
