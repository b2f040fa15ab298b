import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Caller } from "./running";

/** What an attack needs to know of the service. */
export interface Target {
  readonly api: Caller;
  readonly projectId: string;
  readonly eventDatasetId: string;
  /** The address of a large result. */
  readonly downloadUrl: string;
}

/** How hard an attack is: its connections, and how long those that never read stay open. */
export interface Force {
  readonly connections: number;
  readonly stayMs: number;
}

/** One way to overload a service; resolves when it is over. */
type Attack = (target: Target, force: Force) => Promise<void>;

/** A connection that the service has closed is opened again after so long. */
const reconnectMs = 1000;

const recommend = "/recommend-items-to-user";
const upsert = "/upsert-dataset-events";

/** Opens connections that send a text, never read, and are closed after a while or by the service. */
async function neverRead(url: string, text: string, { connections, stayMs }: Force): Promise<void> {
  const { hostname, port } = new URL(url);
  const end = Date.now() + stayMs;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      do {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => undefined);
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.pause();
        socket.write(text);
        await Promise.race([closed, sleep(Math.max(0, end - Date.now()))]);
        socket.destroy();
        await sleep(Math.min(reconnectMs, Math.max(0, end - Date.now())));
      } while (Date.now() < end);
    }),
  );
}

const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();

/** Sends packed bodies at once, several times over. */
function bodies(text: () => string): Attack {
  return async ({ api }, { connections }) => {
    const headers = {
      ...(await api.headers(upsert)),
      ...{ "content-type": "application/json", "content-encoding": "gzip" },
    };
    const body = gzipSync(text(), { level: 1 });
    const send = () => api.raw(upsert, { method: "POST", headers, body }).catch(() => undefined);
    for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: connections / 4 }, send));
  };
}

/** Every attack by its name. */
export const attacks: Readonly<Record<string, Attack>> = {
  "pipelined requests for a document, never read": ({ api }, force) =>
    neverRead(api.service.url, "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1700), force),

  "pipelined requests within the limit, never read": ({ api }, force) =>
    neverRead(api.service.url, "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(30), force),

  "downloads that are never read": ({ api, downloadUrl }, { connections, stayMs }) => {
    const { pathname, search } = new URL(downloadUrl);
    const text = `GET ${pathname}${search} HTTP/1.1\r\nhost: a\r\n\r\n`;
    return neverRead(api.service.url, text, { connections: connections * 8, stayMs });
  },

  "recommendations for users with endless ids": async ({ api, projectId }, { connections }) => {
    const headers = { ...(await api.headers(recommend)), "content-type": "application/json" };
    const call = (user_id: string) =>
      api
        .raw(`/serving/${projectId}${recommend}`, {
          ...{ method: "POST", headers },
          body: JSON.stringify({ user_id }),
        })
        .catch(() => undefined);
    for (let round = 0; round < connections * 2; round++)
      await Promise.all([
        ...Array.from({ length: 8 }, (_, at) => call(`${round}-${at}-${"x".repeat(1_000_000)}`)),
        ...Array.from({ length: 64 }, (_, at) => call(`${round}-${at}-${"x".repeat(240)}`)),
      ]);
  },

  "bodies of one object of 1.5 million keys": bodies(() => `{${keys(1_500_000)}}`),
  "bodies of one record of 1.5 million keys": bodies(() => `{"events":[{${keys(1_500_000)}}]}`),
  "bodies of 1,000 records of 1,500 keys": bodies(
    () => `{"events":[${Array.from({ length: 1000 }, () => `{${keys(1500)}}`).join()}]}`,
  ),
  "bodies of 1,000 records of 900 keys": bodies(
    () =>
      `{"event_dataset_id":"x","events":[${Array.from({ length: 1000 }, () => `{${keys(900)}}`).join()}]}`,
  ),
  "bodies of 11 million numbers": bodies(() => `{"events":[${"1,".repeat(11_000_000)}1]}`),

  "calls without credentials for ever new projects": async ({ api }, { connections }) => {
    for (let round = 0; round < connections; round++)
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          api.raw(`/serving/project-${round}-${at}${recommend}`, { method: "POST" }).catch(() => undefined),
        ),
      );
  },

  "deletions by time whose callers hang up": async ({ api, eventDatasetId }, { connections }) => {
    const path = "/delete-dataset-events-before-ts";
    const headers = await api.headers(path);
    const body = JSON.stringify({ event_dataset_id: eventDatasetId, ts: 1 });
    const text = [
      `DELETE ${path} HTTP/1.1`,
      ...["host: a", "content-type: application/json", `content-length: ${body.length}`],
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...["", body],
    ].join("\r\n");
    await neverRead(api.service.url, text, { connections, stayMs: 1000 });
  },
};
