import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Agent, request } from "undici";

/** Operations that attacks call. */
export const attacked = {
  recommend: "/recommend-items-to-user",
  upsert: "/upsert-dataset-events",
  deleteBefore: "/delete-dataset-events-before-ts",
  deleteUser: "/delete-dataset-user-events",
  createAlgorithm: "/create-algorithm",
} as const;

/** Target of an attack. */
export interface Target {
  readonly url: string;
  /** Headers with a token for each operation. */
  readonly headers: Readonly<Record<keyof typeof attacked, Record<string, string>>>;
  readonly projectId: string;
  readonly eventDatasetId: string;
  /** URL of a large result. */
  readonly downloadUrl: string;
}

/** Strength of an attack: the number of connections, and how long connections stay open that never read. */
export interface Force {
  readonly connections: number;
  readonly stayMs: number;
}

/** An attack on a service. Resolves when it is over. */
type Attack = (target: Target, force: Force) => Promise<void>;

/** Pause before a connection is opened again that the service has closed. */
const reconnectMs = 1000;

const dispatcher = new Agent();

/** Sends a request and reads the response. Errors are ignored. */
async function send(
  { url, headers }: Target,
  operation: keyof typeof attacked,
  body: string | Buffer,
  { path = attacked[operation], more = {} }: { path?: string; more?: Record<string, string> } = {},
): Promise<void> {
  const method = operation === "deleteUser" ? "DELETE" : "POST";
  const all = { ...headers[operation], "content-type": "application/json", ...more };
  await request(`${url}${path}`, { method, headers: all, body, dispatcher })
    .then((response) => response.body.dump())
    .catch(() => undefined);
}

const times = <T>(count: number, work: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: Math.ceil(count) }, (_, at) => work(at)));

/** Opens connections that send a text and never read, until they are closed after a while or by the service. */
async function neverRead(
  { url }: Target,
  text: string,
  { connections, stayMs }: Force,
  pauseMs = reconnectMs,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const end = Date.now() + stayMs;
  await times(connections, async () => {
    do {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.pause();
      socket.write(text);
      await Promise.race([closed, sleep(Math.max(0, end - Date.now()))]);
      socket.destroy();
      await sleep(Math.min(pauseMs, Math.max(0, end - Date.now())));
    } while (Date.now() < end);
  });
}

/** Repeatedly opens connections, sends a request on each, and closes them at once or after the first bytes. */
async function hangUp({ url }: Target, text: string, { connections, stayMs }: Force): Promise<void> {
  const { hostname, port } = new URL(url);
  const end = Date.now() + stayMs;
  await times(connections, async (at) => {
    do {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(text, () => (at % 2 === 0 ? socket.resetAndDestroy() : undefined));
      socket.once("data", () => socket.destroy());
      await Promise.race([closed, sleep(Math.max(0, end - Date.now()))]);
      socket.destroy();
    } while (Date.now() < end);
  });
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

/** Records as short as possible, so the maximum number fits into a body. */
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"${at.toString(36)}":1`).join();

/** Repeatedly sends compressed bodies, a dozen at once with the default number of connections. */
function bodies(text: () => string): Attack {
  return async (target, { connections }) => {
    const body = gzipSync(text(), { level: 1 });
    const more = { "content-encoding": "gzip" };
    for (let round = 0; round < 2; round++)
      await times(connections / 5, () => send(target, "upsert", body, { more }));
  };
}

const records = (count: number) => Array.from({ length: 1000 }, () => `{${keys(count)}}`).join();

/** All attacks by name. With 60 connections, each crashed an earlier version of the service. */
export const attacks: Readonly<Record<string, Attack>> = {
  "pipelined requests for a document, never read": (target, force) =>
    neverRead(target, get("/openapi.json").repeat(1700), force),

  "pipelined requests within the limit, never read": (target, force) =>
    neverRead(target, get("/openapi.json").repeat(30), force),

  "a flood of connections that hang up": (target, force) => hangUp(target, get("/openapi.json"), force),

  "downloads that are never read": (target, { connections, stayMs }) => {
    const { pathname, search } = new URL(target.downloadUrl);
    const readers = Math.ceil((connections * 20) / 3);
    // Over PostgreSQL, all of them together need most of a minute to fill the memory of a service without a bound.
    return neverRead(target, get(pathname + search), { connections: readers, stayMs: stayMs * 5 });
  },

  "recommendations for users with endless ids": async (target, { connections }) => {
    const path = `/serving/${target.projectId}${attacked.recommend}`;
    const call = (user_id: string) => send(target, "recommend", JSON.stringify({ user_id }), { path });
    for (let round = 0; round < connections * 3.5; round++)
      await Promise.all([
        times(8, (at) => call(`${round}-${at}-${"x".repeat(1_000_000)}`)),
        times(64, (at) => call(`${round}-${at}-${"x".repeat(240)}`)),
      ]);
  },

  "1,000 recommendations at once": async (target, { connections }) => {
    const path = `/serving/${target.projectId}${attacked.recommend}`;
    for (let round = 0; round < 10; round++)
      await times(connections * 17, (at) =>
        send(target, "recommend", JSON.stringify({ user_id: `u${at % 40}` }), { path }),
      );
  },

  "bodies of one object of 2.2 million keys": bodies(() => `{${keys(2_200_000)}}`),
  "bodies of one record of 1.5 million keys": bodies(() => `{"events":[{${keys(1_500_000)}}]}`),
  "bodies of 1,000 records of 1,500 keys": bodies(() => `{"events":[${records(1500)}]}`),
  "bodies of 1,000 records of 900 keys": bodies(() => `{"event_dataset_id":"x","events":[${records(900)}]}`),
  "bodies of 11 million numbers": bodies(() => `{"events":[${"1,".repeat(10_999_999)}1]}`),

  "users with endless ids to be forgotten": async (target, { connections }) => {
    for (let round = 0; round < 10; round++)
      await times(connections / 5, (at) =>
        send(
          target,
          "deleteUser",
          JSON.stringify({
            event_dataset_id: target.eventDatasetId,
            user_id: `${round}-${at}-${"x".repeat(900_000)}`,
          }),
        ),
      );
  },

  "algorithms of 60,000 event types": async (target, { connections }) => {
    const event_weights = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`t${at}`, 1]));
    const body = JSON.stringify({
      ...{ project_id: target.projectId, name: "a", algorithm_type: "G1" },
      algorithm_parameters: { event_weights },
    });
    for (let round = 0; round < 5; round++)
      await times(connections / 5, () => send(target, "createAlgorithm", body));
  },

  "calls without credentials for ever new projects": async ({ url }, { connections }) => {
    for (let round = 0; round < connections; round++)
      await times(50, (at) =>
        request(`${url}/serving/project-${round}-${at}${attacked.recommend}`, { method: "POST", dispatcher })
          .then((response) => response.body.dump())
          .catch(() => undefined),
      );
  },

  "deletions by time whose callers hang up": async (target, { connections, stayMs }) => {
    const deletion = (ts: number) => {
      const body = JSON.stringify({ event_dataset_id: target.eventDatasetId, ts });
      return [
        `DELETE ${attacked.deleteBefore} HTTP/1.1`,
        ...["host: a", "content-type: application/json", `content-length: ${body.length}`],
        ...Object.entries(target.headers.deleteBefore).map(([name, value]) => `${name}: ${value}`),
        ...["", body],
      ].join("\r\n");
    };
    // Half of the callers repeat one deletion. The other half sends a different one each time.
    await Promise.all([
      hangUp(target, deletion(1), { connections: Math.ceil(connections / 2), stayMs }),
      times(connections / 2, (at) => hangUp(target, deletion(2 + at), { connections: 1, stayMs })),
    ]);
  },
};
