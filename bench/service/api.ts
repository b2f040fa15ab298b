import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "undici";

/** A service in a separate process, started from dist/ as users start it. */
export interface ServiceProcess {
  readonly url: string;
  readonly key: string;
  readonly readyMs: number;
  /** Kills the process and waits until it has exited. */
  kill(): Promise<void>;
}

/** The key of services on PostgreSQL. It is only valid as long as the benchmark runs. */
const key = randomBytes(24).toString("base64url");

/** Starts a service and waits until it is ready. */
export function startProcess(...options: string[]): Promise<ServiceProcess> {
  return startNode([], options);
}

/** Starts a service with arguments for Node. */
export function startNode(node: readonly string[], options: readonly string[]): Promise<ServiceProcess> {
  const began = performance.now();
  const main = join(__dirname, "..", "..", "dist", "cli", "main.js");
  const child = spawn(process.execPath, [...node, main, "serve", "--json", ...options], {
    stdio: ["ignore", "pipe", options.includes("--store") ? "ignore" : "inherit"],
    env: { ...process.env, RECOMMENDER_API_KEY: key },
  });
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("The service exited while it was starting.")));
    child.stdout.once("data", (line) => {
      const { url, keyFile } = JSON.parse(String(line));
      resolve({
        url,
        key: keyFile === undefined ? key : readFileSync(keyFile, "utf8").trim(),
        readyMs: performance.now() - began,
        kill: async () => {
          child.kill("SIGTERM");
          await once(child, "exit");
        },
      });
    });
  });
}

/** Fields of the status of a service. */
interface Status {
  readonly pid: number;
  readonly memory_bytes: number;
  readonly cpu_sec: number;
  readonly threads: number;
}

/** Makes API calls without the client library, with a token for each path. */
export class Api {
  private readonly tokens = new Map<string, string>();

  constructor(
    private readonly pool: Pool,
    private readonly key: string,
  ) {}

  /** Makes a call. */
  async call(path: string, body: object): Promise<Record<string, unknown>> {
    return this.send(path, JSON.stringify(body), false);
  }

  /** Makes a call with a serialized body. */
  async send(
    path: string,
    body: string | Buffer,
    gzip: boolean,
    scope = path,
  ): Promise<Record<string, unknown>> {
    const headers = {
      ...(await this.headers(scope)),
      "content-type": "application/json",
      ...(gzip ? { "content-encoding": "gzip" } : {}),
    };
    const answer = await this.pool.request({ method: "POST", path, headers, body });
    const reply = (await answer.body.json()) as Record<string, unknown>;
    if (answer.statusCode !== 200) throw new Error(`${path}: ${JSON.stringify(reply)}`);
    return reply;
  }

  /** Makes a call without parsing the response, because a load generator must leave the CPU to the service. */
  post(path: string, headers: Record<string, string>, body: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let status = 0;
      this.pool.dispatch(
        { method: "POST", path, headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_, statusCode) => {
            status = statusCode;
          },
          onResponseData: () => undefined,
          onResponseEnd: () => (status === 200 ? resolve() : reject(new Error(`${path}: ${status}`))),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
  }

  /** Waits for a job, and returns the time since its submission. */
  async job(projectId: unknown, { job_id }: Record<string, unknown>, pauseMs = 50) {
    const began = performance.now();
    const query = new URLSearchParams({ project_id: String(projectId), job_id: String(job_id) });
    for (;;) {
      const answer = await this.pool.request({
        method: "GET",
        path: `/get-job?${query}`,
        headers: await this.headers("/get-job"),
      });
      const job = (await answer.body.json()) as {
        job_status: string;
        job_data: unknown;
        job_result: unknown;
      };
      if (job.job_status === "FAILED") throw new Error(JSON.stringify(job));
      if (job.job_status === "SUCCEED")
        return {
          result: job.job_result,
          data: job.job_data,
          seconds: (performance.now() - began) / 1000,
        };
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  /** Returns the status of the service. */
  async status(): Promise<Status> {
    const answer = await this.pool.request({ method: "GET", path: "/status", headers: { apikey: this.key } });
    return (await answer.body.json()) as Status;
  }

  /** Returns the headers of a call to a path. */
  async headers(path: string): Promise<Record<string, string>> {
    let token = this.tokens.get(path);
    if (!token) {
      const form = new URLSearchParams({
        grant_type: "client_credentials",
        client_secret: this.key,
        scope: path,
      });
      const answer = await this.pool.request({
        method: "POST",
        path: "/oauth/token",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: form.toString(),
      });
      token = ((await answer.body.json()) as { access_token: string }).access_token;
      this.tokens.set(path, token);
    }
    return { apikey: this.key, authorization: `Bearer ${token}` };
  }
}

/** Connects to a running service. */
export function connect({ url, key }: Pick<ServiceProcess, "url" | "key">): Api {
  return new Api(new Pool(url, { connections: 32 }), key);
}

/** Returns the peak memory of the service during some work, measured twice a second. */
export async function watched<T>(
  api: Api,
  work: () => Promise<T>,
): Promise<{ result: T; peakBytes: number }> {
  let peakBytes = 0;
  const watch = setInterval(async () => {
    peakBytes = Math.max(peakBytes, (await api.status()).memory_bytes);
  }, 500);
  const result = await work().finally(() => clearInterval(watch));
  return { result, peakBytes };
}
