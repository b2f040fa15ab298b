import type { Clock } from "../../client/clock";
import { type Fault, type Passage, send } from "./proxy";

const page = (title: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body></body></html>`;

/** No fault at all. */
export const whole: Fault = async ({ response, pass }) => send(response, await pass());

/** Refuses the call without handing it on. */
export function refuse(status: number, headers: Record<string, string> = {}): Fault {
  return ({ response }) => {
    const code = { 401: "UNAUTHENTICATED", 429: "RATE_LIMITED" }[status] ?? "UNAVAILABLE";
    const body = JSON.stringify({ error: { code, message: "Not now." } });
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };
}

/** Answers with a page for people; the service may have carried the call out all the same. */
export function htmlPage(status: number, { taken }: { taken: boolean }): Fault {
  return async ({ response, pass }) => {
    if (taken) await pass();
    response.writeHead(status, { "content-type": "text/html" }).end(page("Bad day"));
  };
}

/** Answers in place of the service, as a gateway does; the service may have carried the call out all the same. */
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

/** What a gateway says of a path that it does not know. */
export const noRoute = JSON.stringify({ message: "no Route matched with those values" });

/** What a router says of an application that it does not have. */
export const noDeployment = JSON.stringify({
  error: { code: "DEPLOYMENT_NOT_FOUND", message: "The deployment could not be found." },
});

/** What a layer that keeps idempotency keys says while the first call is still running. */
export const keyInProgress = JSON.stringify({ message: "A request with this key is still being processed." });

/** Does something else for as long as the clock has not moved so far, and then passes everything on. */
export function during(clock: Clock, ms: number, fault: Fault): Fault {
  let until: number | undefined;
  return async (passage) => {
    until ??= clock.now() + ms;
    if (clock.now() < until) await fault(passage);
    else await whole(passage);
  };
}

/** Breaks the connection before the service has seen the request. */
export const resetBefore: Fault = ({ response }) => {
  response.socket?.resetAndDestroy();
};

/** Breaks the connection after the service has carried the request out: only the reply is lost. */
export const resetAfter: Fault = async ({ response, pass }) => {
  await pass();
  response.socket?.resetAndDestroy();
};

/** Breaks off in the middle of the reply. */
export const cutReply: Fault = async ({ response, pass }) => {
  const { status, headers, body } = await pass();
  response.writeHead(status, { ...headers, "content-length": String(body.length) });
  response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
};

/** Sends half of the reply as if it were the whole. */
export const cutJson: Fault = async ({ response, pass }) => {
  const answer = await pass();
  send(response, { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) });
};

/** Says of the reply that it is something else. */
export const wrongType: Fault = async ({ response, pass }) => {
  const answer = await pass();
  send(response, { ...answer, headers: { ...answer.headers, "content-type": "text/html" } });
};

/** Says of a job that it is still under way. */
export const stillRunning: Fault = async ({ response, pass }) => {
  const answer = await pass();
  const job = { ...JSON.parse(answer.body.toString()), job_status: "RUNNING", job_result: null };
  send(response, { ...answer, body: Buffer.from(JSON.stringify(job)) });
};

/** Sends the reply byte by byte. */
export const drip: Fault = async (passage) => {
  const { body, close } = await begin(passage);
  for (const byte of body) {
    passage.response.write(Buffer.of(byte));
    await new Promise(setImmediate);
  }
  close();
};

/** Sends the first byte of the reply and then nothing, but keeps the connection open. */
export const stall: Fault = async (passage) => {
  const { body } = await begin(passage);
  passage.response.write(body.subarray(0, 1));
};

async function begin({ response, pass }: Passage): Promise<{ body: Buffer; close: () => void }> {
  const { status, headers, body } = await pass();
  response.writeHead(status, { ...headers, "content-length": String(body.length) });
  return { body, close: () => response.end() };
}

/** Allows so many calls in each second of the wall clock, and refuses those beyond it for a second. */
export function allowPerSecond(limit: number): Fault {
  let second = 0;
  let count = 0;
  return async (passage) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) [second, count] = [now, 0];
    if (++count > limit) return refuse(429, { "retry-after": "1" })(passage);
    await whole(passage);
  };
}
