import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Responds to one request. */
export type Page = (request: IncomingMessage, response: ServerResponse) => void;

/** Web server with sources. */
export class WebServer {
  readonly pages = new Map<string, Page>();
  /** Requests since the last call of `requests`, as method and path. */
  #requests: string[] = [];
  /** Values of the header `authorization`, with the request. */
  readonly authorizations: string[] = [];
  readonly #server = createServer((request, response) => {
    this.#requests.push(`${request.method} ${request.url}`);
    if (request.headers.authorization)
      this.authorizations.push(`${request.url} ${request.headers.authorization}`);
    const page = this.pages.get(request.url?.split("?")[0] ?? "");
    if (page) page(request, response);
    else response.writeHead(404).end("nothing here");
  });

  static async start(): Promise<WebServer> {
    const started = new WebServer();
    await new Promise<void>((resolve) => started.#server.listen(0, "127.0.0.1", resolve));
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns the address of a page. `host` is a name of this machine. */
  url(path: string, host = "127.0.0.1"): string {
    return `http://${host}:${this.port}${path}`;
  }

  /** Adds a page and returns its address. */
  serve(path: string, page: Page): string {
    this.pages.set(path, page);
    return this.url(path);
  }

  /** Adds a page with a content that supports ETags and ranges, as a file server does. */
  serveFile(path: string, content: Buffer | string, etag?: string): string {
    return this.serve(path, (request, response) => filePage(Buffer.from(content), etag, request, response));
  }

  /** Returns the requests since the last call. */
  requests(): string[] {
    return this.#requests.splice(0);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Responds like a file server: with the whole content, or the part in `range` if `if-range` is the current ETag. */
export function filePage(
  content: Buffer,
  etag: string | undefined,
  { method, headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const common = { "content-type": "application/octet-stream", ...(etag && { etag }) };
  const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
  const isPart = start > 0 && headers["if-range"] === etag;
  const body = isPart ? content.subarray(start) : content;
  const range = `bytes ${start}-${content.length - 1}/${content.length}`;
  const more = isPart ? { "content-range": range } : {};
  response.writeHead(isPart ? 206 : 200, { ...common, ...more, "content-length": body.length });
  response.end(method === "HEAD" ? undefined : body);
}
