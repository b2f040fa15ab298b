import { gunzipSync } from "node:zlib";
import type { Clock } from "../../client/clock";
import { type Fault, type Passage, send } from "./proxy";

const page = (title: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body></body></html>`;

/** No fault at all. */
export const whole: Fault = async ({ response, pass }) => send(response, await pass());

/** Rejects the call like the service itself, without forwarding it. */
export function rejectWith(status: number, headers: Record<string, string> = {}): Fault {
  return ({ response, ownHeaders }) => {
    const code = { 401: "UNAUTHENTICATED", 429: "RATE_LIMITED" }[status] ?? "UNAVAILABLE";
    const body = JSON.stringify({ error: { code, message: "Not now." } });
    response.writeHead(status, { "content-type": "application/json", ...ownHeaders, ...headers }).end(body);
  };
}

/** Responds with an HTML page. The service may still have executed the call. */
export function htmlPage(status: number, { taken }: { taken: boolean }): Fault {
  return async ({ response, pass }) => {
    if (taken) await pass();
    response.writeHead(status, { "content-type": "text/html" }).end(page("Bad day"));
  };
}

/** Responds like a gateway instead of the service, which may still have executed the call. */
export function instead(
  status: number,
  body: string,
  { taken, headers = {} }: { taken: boolean; headers?: Record<string, string> },
): Fault {
  return async ({ response, pass }) => {
    if (taken) await pass();
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
}

/** Responds like the service itself, without executing the call. */
export function fromService(status: number, body: string): Fault {
  return ({ response, ownHeaders }) => {
    response.writeHead(status, { "content-type": "application/json", ...ownHeaders }).end(body);
  };
}

/** Redirects to a login page, each time with the next status that a proxy may use. */
export function redirects(): Fault {
  const status = redirectStatuses.shift() as number;
  redirectStatuses.push(status);
  return instead(status, "", { taken: false, headers: { location: "https://login.example.com/" } });
}

const redirectStatuses = [301, 302, 303, 307, 308];

/** Executes the call, and responds with the ids of other objects in place of the ids in the request. */
export const otherObject: Fault = async ({ call, url, body, response, pass }) => {
  const answer = await pass();
  const sent = call.startsWith("GET")
    ? Object.fromEntries(new URL(url, "http://x").searchParams)
    : jsonIn(body);
  const reply = JSON.parse(answer.body.toString()) as Record<string, unknown>;
  for (const key of Object.keys(sent))
    if (key.endsWith("_id") && key in reply) reply[key] = `other-${sent[key]}`;
  send(response, { ...answer, body: Buffer.from(JSON.stringify(reply)) });
};

/** Executes the call, and changes fields of the response. */
export function withFields(fields: Readonly<Record<string, unknown>>): Fault {
  return async ({ response, pass }) => {
    const answer = await pass();
    const reply = { ...JSON.parse(answer.body.toString()), ...fields };
    send(response, { ...answer, body: Buffer.from(JSON.stringify(reply)) });
  };
}

/** Responds to a change with the object as it was before. The service may still have executed the call. */
export function oldObject({ taken }: { taken: boolean }): Fault {
  return async ({ body, response, pass }) => {
    if (taken) await pass();
    const ids = Object.entries(jsonIn(body)).filter(([key]) => key.endsWith("_id"));
    const old = { ...Object.fromEntries(ids), name: "before", attribute_schema: null };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(old));
  };
}

function jsonIn(body: Buffer): Record<string, unknown> {
  const isCompressed = body[0] === 0x1f;
  return JSON.parse((isCompressed ? gunzipSync(body) : body).toString());
}

/** Response of a gateway to an unknown path. */
export const noRoute = JSON.stringify({ message: "no Route matched with those values" });

/** Response of a gateway to a path that it no longer serves. */
export const gone = JSON.stringify({ message: "Gone" });

/** Response of a router to an unknown application. */
export const noDeployment = JSON.stringify({
  error: { code: "DEPLOYMENT_NOT_FOUND", message: "The deployment could not be found." },
});

/** Response of an idempotency layer while the first call is still running. */
export const keyInProgress = JSON.stringify({ message: "A request with this key is still being processed." });

/** Applies a fault until the clock has advanced by a duration, then forwards everything. */
export function during(clock: Clock, ms: number, fault: Fault): Fault {
  let until: number | undefined;
  return async (passage) => {
    until ??= clock.now() + ms;
    if (clock.now() < until) await fault(passage);
    else await whole(passage);
  };
}

/** Drops the connection before the service gets the request. */
export const resetBefore: Fault = ({ response }) => {
  response.socket?.resetAndDestroy();
};

/** Drops the connection after the service has executed the request, so only the response is lost. */
export const resetAfter: Fault = async ({ response, pass }) => {
  await pass();
  response.socket?.resetAndDestroy();
};

/** Drops the connection in the middle of the response. */
export const cutReply: Fault = async ({ response, pass }) => {
  const { status, headers, body } = await pass();
  response.writeHead(status, { ...headers, "content-length": String(body.length) });
  response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
};

/** Sends half of the response as if it were complete. */
export const cutJson: Fault = async ({ response, pass }) => {
  const answer = await pass();
  send(response, { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) });
};

/** Changes the content type of the response. */
export const wrongType: Fault = async ({ response, pass }) => {
  const answer = await pass();
  send(response, { ...answer, headers: { ...answer.headers, "content-type": "text/html" } });
};

/** Reports a job as running. */
export const stillRunning: Fault = async ({ response, pass }) => {
  const answer = await pass();
  const job = { ...JSON.parse(answer.body.toString()), job_status: "RUNNING", job_result: null };
  send(response, { ...answer, body: Buffer.from(JSON.stringify(job)) });
};

/** Sends the response byte by byte. */
export const drip: Fault = async (passage) => {
  const { body, close } = await begin(passage);
  for (const byte of body) {
    passage.response.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  close();
};

/** Sends the first byte of the response and keeps the connection open. */
export const stall: Fault = async (passage) => {
  const { body } = await begin(passage);
  passage.response.write(body.subarray(0, 1));
};

async function begin({ response, pass }: Passage): Promise<{ body: Buffer; close: () => void }> {
  const { status, headers, body } = await pass();
  response.writeHead(status, { ...headers, "content-length": String(body.length) });
  return { body, close: () => response.end() };
}

/** Allows a number of calls per second, and rejects further calls for a second. */
export function allowPerSecond(limit: number): Fault {
  let second = 0;
  let count = 0;
  return async (passage) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) [second, count] = [now, 0];
    if (++count > limit) return rejectWith(429, { "retry-after": "1" })(passage);
    await whole(passage);
  };
}
