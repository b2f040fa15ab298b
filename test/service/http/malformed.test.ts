import { once } from "node:events";
import { connect } from "node:net";
import { errorBody, wireSchema } from "../../../contract";
import { Running } from "../running";

describe("malformed or oversized HTTP", () => {
  let api: Running;
  beforeAll(async () => {
    api = await Running.start();
  });
  afterAll(() => api.end());

  /** Sends bytes and reads the complete response. */
  const send = async (text: string) => {
    const { hostname, port } = new URL(api.service.url);
    const socket = connect(Number(port), hostname);
    let answer = "";
    socket.on("data", (data) => {
      answer += data;
    });
    socket.write(text);
    await once(socket, "close");
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    return { head, body: JSON.parse(body) };
  };

  test.each([
    [
      "headers of 20 kB",
      `GET /status HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
      431,
      "HEADERS_TOO_LARGE",
    ],
    ["no method", "gibberish\r\n\r\n", 400, "BAD_REQUEST"],
    [
      "two lengths",
      "POST /oauth/token HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      400,
      "BAD_REQUEST",
    ],
    [
      "an unknown expectation",
      "GET /status HTTP/1.1\r\nhost: a\r\nexpect: nonsense\r\nconnection: close\r\n\r\n",
      417,
      "EXPECTATION_FAILED",
    ],
    ["no host", "GET /status HTTP/1.1\r\nconnection: close\r\n\r\n", 401, "UNAUTHENTICATED"],
  ])("%s gets a standard error", async (_, text, status, code) => {
    const { head, body } = await send(text);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    wireSchema(errorBody).parse(body);
    expect(body.error.code).toBe(code);
    expect(/x-request-id: (\S+)/.exec(head)?.[1]).toBe(body.error.request_id);
  });
});
