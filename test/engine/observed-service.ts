import { EventEmitter, once } from "node:events";
import { request } from "undici";
import { Client, endpointToken } from "../../client/client";
import { type Input, type Reply, type Route, routes } from "../../contract";
import { dataDirectoryAt, type Service, type StartOptions, startService, withClients } from "../../service";
import { type Clock, systemClock } from "../../service/base/clock";
import { connect } from "../../service/store/database";

/** Call in the log of the service. */
export interface LoggedCall {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** Duration of a held job that is not released. */
const heldMs = 3_600_123;

/** System clock on which held jobs wait until the test releases them, on a machine of any speed. */
class HoldingClock implements Clock {
  private released = new AbortController();

  now(): number {
    return systemClock.now();
  }

  wait(ms: number, signal?: AbortSignal): Promise<void> {
    const signals = [this.released.signal, ...(signal ? [signal] : [])];
    return systemClock.wait(ms, ms === heldMs ? AbortSignal.any(signals) : signal);
  }

  release(): void {
    this.released.abort();
    this.released = new AbortController();
  }
}

/** Returns the calls without the reads that find an upload which another machine has begun. */
export function withoutUploadChecks(calls: readonly string[]): string[] {
  return calls.filter((call) => !["GET /healthz", "GET /count-dataset-records"].includes(call));
}

/** Embedded service on a free port, with its log and a client for changes outside Pulumi. */
export class ObservedService {
  readonly #calls: LoggedCall[] = [];
  private constructor(
    readonly service: Service,
    readonly client: Client,
    calls: LoggedCall[],
    private readonly clock: HoldingClock,
    private readonly log: EventEmitter,
  ) {
    this.#calls = calls;
  }

  static async start(options: StartOptions = {}): Promise<ObservedService> {
    const calls: LoggedCall[] = [];
    const log = new EventEmitter();
    const write = (line: string) => {
      const { msg, method, path, status } = JSON.parse(line);
      if (msg !== "call" || path === "/oauth/token") return;
      calls.push({ method, path, status });
      log.emit(`${method} ${path}`);
    };
    const clock = new HoldingClock();
    const service = await startService({ log: { write }, retryDelayMs: 1, clock, ...options });
    const credentials = { clientId: "test", clientSecret: service.key };
    const token = endpointToken({ url: `${service.url}/oauth/token`, ...credentials });
    return new ObservedService(
      service,
      new Client({ baseUrl: service.url, apiKey: service.key, token }),
      calls,
      clock,
      log,
    );
  }

  /** Environment variables for a program that uses this service. */
  get environment(): Record<string, string> {
    return {
      RECOMMENDER_BASE_URL: this.service.url,
      RECOMMENDER_API_KEY: this.service.key,
      RECOMMENDER_TOKEN_URL: `${this.service.url}/oauth/token`,
      RECOMMENDER_CLIENT_ID: "test",
      RECOMMENDER_CLIENT_SECRET: this.service.key,
      RECOMMENDER_JOB_POLL_MS: "50",
    };
  }

  /** Configuration of a stack that uses this service. */
  get config(): Record<string, string> {
    return {
      "recommender:baseUrl": this.service.url,
      "recommender:apiKey": this.service.key,
      "recommender:tokenUrl": `${this.service.url}/oauth/token`,
      "recommender:clientId": "test",
      "recommender:clientSecret": this.service.key,
      "recommender:jobPollMs": "50",
    };
  }

  /** Configuration with the credentials of a separate client. */
  async environmentOf(name: string, ...scopes: string[]): Promise<Record<string, string>> {
    const { dataDir } = this.service;
    const { secret } = await withClients({ dataDir }, (clients) => clients.add(name, scopes));
    const credentials = { RECOMMENDER_CLIENT_ID: name, RECOMMENDER_CLIENT_SECRET: secret };
    return { ...this.environment, ...credentials, RECOMMENDER_API_KEY: secret };
  }

  /** Enables the given faults of the service and disables all others. */
  async faults(switches: object): Promise<void> {
    const { statusCode, body } = await request(`${this.service.url}/faults`, {
      method: "PUT",
      headers: { apikey: this.service.key, "content-type": "application/json" },
      body: JSON.stringify(switches),
    });
    if (statusCode !== 200) throw new Error(await body.text());
    await body.dump();
  }

  /** Makes all jobs wait until `releaseJobs`. */
  async holdJobs(): Promise<void> {
    await this.faults({ job_delay_ms: heldMs });
  }

  /** Lets held and later jobs complete. */
  async releaseJobs(): Promise<void> {
    await this.faults({});
    this.clock.release();
  }

  call<R extends Route>(route: R, input: Input<R>): Promise<Reply<R>> {
    return this.client.call(route, input);
  }

  /** Returns the calls since the last call of this method, in order, such as `POST /create-project`. */
  calls(): string[] {
    return this.#calls.splice(0).map(({ method, path }) => `${method} ${path}`);
  }

  /** Waits for calls such as `GET /get-job`, from now on. */
  async nextCalls(call: string, count: number): Promise<void> {
    for (let seen = 0; seen < count; seen++) await once(this.log, call);
  }

  /** Returns the origins of jobs that were sent with their submissions. */
  async origins(): Promise<unknown[]> {
    const db = connect(dataDirectoryAt(this.service.dataDir).database);
    const rows = await db.selectFrom("jobs").select("data").orderBy("number").execute();
    await db.destroy();
    return rows.map(({ data }) => JSON.parse(data).origin);
  }

  /** Uploads users, items and events. Each user likes one of two genres. */
  async load(
    ids: { users: string; items: string; events: string },
    { users = 30, items = 24, each = 8 } = {},
  ) {
    const genre = (index: number) => (index % 2 ? "jazz" : "folk");
    await this.call(routes.upsertDatasetUsers, {
      userDatasetId: ids.users,
      users: Array.from({ length: users }, (_, u) => ({ userId: `u${u}`, attributes: { likes: genre(u) } })),
    });
    await this.call(routes.upsertDatasetItems, {
      itemDatasetId: ids.items,
      items: Array.from({ length: items }, (_, i) => ({ itemId: `i${i}`, attributes: { genre: genre(i) } })),
    });
    const events = Array.from({ length: users * each }, (_, at) => {
      const [u, k] = [at % users, Math.floor(at / users)];
      const itemId = `i${(u % 2) + 2 * ((u * 5 + k) % (items / 2))}`;
      return {
        eventId: `e${at}`,
        userId: `u${u}`,
        itemId,
        ts: 1_700_000_000_000 + at,
        eventType: "purchase",
      };
    });
    await this.call(routes.upsertDatasetEvents, { eventDatasetId: ids.events, events });
    this.calls();
  }

  async close(): Promise<void> {
    this.clock.release();
    await this.client.close();
    await this.service.close();
  }
}
