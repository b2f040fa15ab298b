import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { errorBody, limits, wireSchema } from "../../../contract";
import { createBoundedServer } from "../../../service/http/connections";
import { Running } from "../running";

const options = {
  http: {},
  keepAliveTimeout: 0,
  requestTimeout: 0,
  sendTimeoutMs: 600_000,
  log: { warn: () => undefined },
};

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

/** Connects to a server and collects what it sends. */
async function dial({ port }: Pick<AddressInfo, "port">): Promise<{ socket: Socket; text(): string }> {
  const socket = connect(port, "127.0.0.1");
  // A server that closes a connection with unread requests resets it.
  socket.on("error", () => undefined);
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  await once(socket, "connect");
  return { socket, text: () => text };
}

describe("a running service", () => {
  let api: Running;
  let port: number;
  beforeAll(async () => {
    api = await Running.start();
    port = Number(new URL(api.service.url).port);
  });
  afterAll(() => api.end());

  test("answers pipelined requests in order", async () => {
    const { socket, text } = await dial({ port });
    const paths = Array.from({ length: 10 }, (_, at) => (at % 2 ? "/healthz" : "/openapi.json"));
    socket.write(paths.map(get).join("") + get("/nothing").replace("host", "connection: close\r\nhost"));
    await once(socket, "close");
    const statuses = [...text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    expect(statuses).toEqual([...paths.map(() => "200"), "404"]);
  });

  test.each(["/openapi.json", "/healthz", "/nothing", "/status"])(
    "closes a connection with too many unanswered requests for %s",
    async (path) => {
      const { socket, text } = await dial({ port });
      socket.write(get(path).repeat(1000));
      await once(socket, "close");
      expect(text().match(/HTTP\/1\.1 /g) ?? []).not.toHaveLength(1000);
      expect((await api.raw("/healthz")).status).toBe(200);
    },
  );

  test("answers CONNECT with a standard error", async () => {
    const { socket, text } = await dial({ port });
    socket.write("CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n");
    await once(socket, "close");
    const [head = "", body = ""] = text().split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1.1 405 /);
    expect(wireSchema(errorBody).parse(JSON.parse(body))).toMatchObject({
      error: { code: "METHOD_NOT_ALLOWED" },
    });
  });
});

describe("a bounded server", () => {
  let server: Server;
  const listen = async (created: Server): Promise<AddressInfo> => {
    server = created;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server.address() as AddressInfo;
  };
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test("handles one request per connection at a time, and limits the waiting ones", async () => {
    const handled: string[] = [];
    const finish: (() => void)[] = [];
    const bounded = createBoundedServer(
      ({ url }, response) => {
        handled.push(String(url));
        finish.push(() => response.end());
      },
      { ...options, sendTimeoutMs: 0 },
    );
    const { socket } = await dial(await listen(bounded));
    const asked = once(bounded, "request");
    const paths = Array.from({ length: limits.pipelinedRequests + 1 }, (_, at) => `/${at}`);
    socket.write(paths.map(get).join(""));
    await asked;
    for (const at of paths.keys()) {
      expect(handled).toEqual(paths.slice(0, at + 1));
      const next = new Promise((resolve) => setImmediate(resolve));
      finish[at]?.();
      while (handled.length < Math.min(at + 2, paths.length)) await new Promise(setImmediate);
      await next;
    }
    socket.write(paths.map(get).join("") + get("/last"));
    await once(socket, "close");
    expect(handled.slice(paths.length)).toEqual(["/0"]);
  });

  test("closes a connection whose client reads nothing of its response", async () => {
    const bounded = createBoundedServer(
      (_, response) => void response.end(Buffer.alloc(64 * 1024 * 1024)),
      options,
    );
    expect(bounded.timeout).toBe(options.sendTimeoutMs);
    const { socket } = await dial(await listen(bounded));
    socket.pause();
    const [accepted] = (await Promise.all([
      once(server, "request").then(([{ socket: of }]) => of as Socket),
      socket.write(get("/")),
    ])) as [Socket, boolean];
    // A busy machine may take this long to send the request, so the connection gets its short timeout only now.
    accepted.setTimeout(20);
    await once(accepted, "close");
    expect(accepted.bytesWritten).toBeGreaterThan(0);
    socket.destroy();
  });

  test("keeps a connection open while a call takes longer than the timeout, and closes it once idle", async () => {
    let answer: () => void = () => undefined;
    const bounded = createBoundedServer(
      (_, response) => {
        answer = () => void response.end("late");
      },
      { ...options, sendTimeoutMs: 0 },
    );
    const { socket, text } = await dial(await listen(bounded));
    const called = once(bounded, "request");
    socket.write(get("/"));
    const [{ socket: accepted }] = await called;
    // Node emits this event after the timeout. The test emits it at the right moment instead of waiting.
    bounded.emit("timeout", accepted);
    answer();
    await once(socket, "data");
    expect(text()).toContain("late");
    bounded.emit("timeout", accepted);
    await once(socket, "close");
  });
});
