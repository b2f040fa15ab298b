import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A call that a host has received. */
export interface HostCall {
  readonly call: string;
  readonly token: string | undefined;
}

interface Stored {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string; readonly type: string };
  readonly author: { readonly id: number };
}

/** Response instead of the usual one. */
export type Fault = (response: ServerResponse) => void;

/** Server that records calls and stores comments, with the API of GitHub or of GitLab. */
export class Host {
  readonly calls: HostCall[] = [];
  readonly comments: Stored[] = [];
  /** Responses to the next calls whose method and path match. Each is used once. */
  readonly faults: { readonly on: RegExp; readonly fault: Fault; readonly afterwards?: boolean }[] = [];
  /** Approvals of the workflow run or of each deployment, as the host returns them. */
  readonly approvals: object[] = [];
  /** Deployments of GitLab's jobs. */
  readonly deployments: { readonly id: number; readonly deployable: object; readonly environment: string }[] =
    [];
  /** Whether the token can read its account. The token of a workflow cannot. */
  canReadAccount = true;
  readonly #server = createServer((request, response) => void this.#respond(request, response));

  private constructor(readonly kind: "github" | "gitlab") {}

  static async start(kind: "github" | "gitlab"): Promise<Host> {
    const started = new Host(kind);
    await new Promise<void>((resolve) => started.#server.listen(0, "127.0.0.1", resolve));
    return started;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a comment as another account, or as the own one. */
  add(body: string, account: "own" | "other" = "other"): Stored {
    const own = account === "own";
    const comment = {
      id: this.comments.length + 1,
      body,
      user: own ? { login: "reviews[bot]", type: "Bot" } : { login: "someone", type: "User" },
      author: { id: own ? 1 : 2 },
    };
    this.comments.push(comment);
    return comment;
  }

  /** Returns the writes so far. */
  get writes(): string[] {
    return this.calls.map(({ call }) => call).filter((call) => !call.startsWith("GET"));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    const { authorization, "private-token": privateToken } = request.headers;
    const call = `${request.method} ${pathname}`;
    this.calls.push({ call, token: authorization ?? (privateToken as string | undefined) });
    let text = "";
    for await (const part of request) text += part;
    const at = this.faults.findIndex(({ on }) => on.test(call));
    const [found] = at < 0 ? [] : this.faults.splice(at, 1);
    if (found && !found.afterwards) return found.fault(response);
    const reply = this.#reply(request.method ?? "", pathname, searchParams, text);
    if (found) return found.fault(response);
    response.writeHead(reply.status, { "content-type": "application/json" }).end(JSON.stringify(reply.body));
  }

  #reply(method: string, path: string, query: URLSearchParams, text: string) {
    if (path === "/user") {
      const account = { login: "reviews[bot]", id: 1 };
      if (this.canReadAccount) return { status: 200, body: account };
      return { status: 403, body: { message: "Resource not accessible by integration" } };
    }
    const lists =
      this.kind === "github"
        ? /^\/repos\/shop\/infra\/issues\/7\/comments$/
        : /^\/projects\/11\/merge_requests\/7\/notes$/;
    const single =
      this.kind === "github"
        ? /^\/repos\/shop\/infra\/issues\/comments\/(\d+)$/
        : /^\/projects\/11\/merge_requests\/7\/notes\/(\d+)$/;
    if (path === "/repos/shop/infra/actions/runs/1/approvals") return { status: 200, body: this.approvals };
    const deployment = /^\/projects\/11\/deployments(?:\/(\d+))?$/.exec(path);
    if (deployment) return { status: 200, body: this.#deployments(deployment[1], query.get("environment")) };
    const size = Number(query.get("per_page") ?? 20);
    const start = (Number(query.get("page") ?? 1) - 1) * size;
    if (lists.test(path) && method === "GET")
      return { status: 200, body: this.comments.slice(start, start + size) };
    const { body = "" } = text ? (JSON.parse(text) as { body?: string }) : {};
    if (lists.test(path) && method === "POST") return { status: 201, body: this.add(body, "own") };
    const edited = this.comments.find(({ id }) => id === Number(single.exec(path)?.[1]));
    if (edited && method === (this.kind === "github" ? "PATCH" : "PUT")) {
      edited.body = body;
      return { status: 200, body: edited };
    }
    if (edited && method === "DELETE") {
      this.comments.splice(this.comments.indexOf(edited), 1);
      return { status: 204, body: undefined };
    }
    return { status: 404, body: { message: "Not Found" } };
  }

  /** Returns one deployment with its approvals, or the deployments of an environment. */
  #deployments(id: string | undefined, environment: string | null): object {
    if (id === undefined) return this.deployments.filter((one) => one.environment === environment).reverse();
    return { ...this.deployments.find((one) => one.id === Number(id)), approvals: this.approvals };
  }
}
