import { sql } from "kysely";
import { Agent, request } from "undici";
import {
  decode,
  encode,
  errorBody,
  type Input,
  type Reply,
  type RouteName,
  routes,
  wireSchema,
} from "../../contract";
import { dataDirectoryAt, type Service, type StartOptions, startService } from "../../service";
import { connect } from "../../service/store/database";
import { newDatabase, testStore, testTwoApis } from "./database";
import { startElsewhere } from "./other-process";

/** An error response, whose body has been checked against the contract. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly error: { code: string; message: string; details?: { path: string; message: string }[] | null },
    readonly headers: Record<string, unknown>,
  ) {
    super(`${status} ${error.code}: ${error.message}`);
  }
}

/** Options of a raw request. */
export interface Raw {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | AsyncIterable<Buffer>;
}

/** Calls a running service over HTTP. */
export class Caller {
  readonly agent = new Agent();
  private readonly tokens = new Map<string, string>();

  constructor(
    readonly service: Pick<Service, "url" | "key">,
    private readonly clientId = "anyone",
  ) {}

  /** Makes a call and checks the reply against the contract. */
  async call<K extends RouteName>(
    name: K,
    input: Input<(typeof routes)[K]>,
    { base = this.service.url, headers = {} }: { base?: string; headers?: Record<string, string> } = {},
  ): Promise<Reply<(typeof routes)[K]>> {
    const route = routes[name];
    const wire = encode(route.request, input as never) as Record<string, string>;
    const all = { ...(await this.headers(route.path)), ...headers };
    const { status, body, answered } =
      route.method === "GET"
        ? await this.raw(`${base}${route.path}?${new URLSearchParams(wire)}`, { headers: all })
        : await this.raw(`${base}${route.path}`, {
            method: route.method,
            headers: { "content-type": "application/json", ...all },
            body: JSON.stringify(wire),
          });
    if (status !== 200) throw refusal(status, body, answered);
    const reply = wireSchema(route.reply).parse(body);
    return decode(route.reply, reply) as Reply<(typeof routes)[K]>;
  }

  /** Sends any request. */
  async raw(url: string, { method = "GET", headers = {}, body }: Raw = {}) {
    const answer = await request(url.startsWith("/") ? `${this.service.url}${url}` : url, {
      method: method as "GET",
      headers,
      body: (body ?? null) as never,
      dispatcher: this.agent,
    });
    const text = await answer.body.text();
    const type = String(answer.headers["content-type"]);
    return {
      status: answer.statusCode,
      answered: answer.headers,
      text,
      body: /\bjson\b/.test(type) ? JSON.parse(text) : text,
    };
  }

  /** Returns the headers for a call to a path. */
  async headers(path: string): Promise<Record<string, string>> {
    let token = this.tokens.get(path);
    if (token === undefined) {
      token = await this.token(path);
      this.tokens.set(path, token);
    }
    return { apikey: this.service.key, authorization: `Bearer ${token}` };
  }

  /** Forgets tokens, which expire when the test moves the clock. */
  forgetTokens(): void {
    this.tokens.clear();
  }

  /** Requests a token for a path. */
  async token(scope: string): Promise<string> {
    const client = { client_id: this.clientId, client_secret: this.service.key };
    const form = { grant_type: "client_credentials", ...client, scope };
    const { body } = await this.raw("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    return body.access_token;
  }

  close(): Promise<void> {
    return this.agent.close();
  }
}

/** Parses an error response. */
export function refusal(status: number, body: unknown, headers: Record<string, unknown>): Refusal {
  const { error } = decode(errorBody, wireSchema(errorBody).parse(body)) as { error: Refusal["error"] };
  return new Refusal(status, error, headers);
}

/** Databases of services that are started again, by their data directories. */
const databases = new Map<string, Awaited<ReturnType<typeof newDatabase>>>();
afterAll(() => Promise.all([...databases.values()].map(({ drop }) => drop())));

/** A service in this process, whose data directory or database is deleted at the end. */
export class Running extends Caller {
  private constructor(
    override readonly service: Service,
    readonly options: StartOptions,
    private readonly others: { readonly api: Api; readonly worker: Service } | undefined,
    private readonly drop: () => Promise<void>,
  ) {
    super(service);
  }

  static async start(options: StartOptions = {}, kind = testStore): Promise<Running> {
    const known = options.dataDir === undefined ? undefined : databases.get(options.dataDir);
    const database = kind === "directory" ? undefined : (known ?? (await newDatabase()));
    if (database && options.dataDir !== undefined) databases.set(options.dataDir, database);
    const stored = database && { store: database.url, key: "rk_the-key-of-the-tests" };
    const all: StartOptions = { log: "none", retryDelayMs: 0, ...stored, ...options };
    const isLast = options.dataDir === undefined;
    const isAlone = !testTwoApis || database === undefined;
    const service = await startService(isAlone ? all : { ...all, role: "api" });
    const others = isAlone ? undefined : await startOthers(all, service);
    return new Running(service, all, others, async () => (isLast ? database?.drop() : undefined));
  }

  /** Alternates between the API processes. Faults are injected in all processes. */
  override async raw(url: string, how?: Raw) {
    if (!this.others) return super.raw(url, how);
    const at = (base: string) =>
      url.startsWith("/") ? `${base}${url}` : url.replace(this.service.url, base);
    const { api, worker } = this.others;
    if (url === "/faults") {
      for (const { url } of [api, worker]) await super.raw(at(url), how);
      return super.raw(url, how);
    }
    this.toOther = !this.toOther;
    return super.raw(at((this.toOther ? api : this.service).url), how);
  }

  private toOther = false;

  /** Runs a statement on the database, also after the service has ended. */
  async ask(statement: string): Promise<unknown[]> {
    const db = connect(this.options.store ?? dataDirectoryAt(this.service.dataDir).database);
    const { rows } = await sql.raw(statement).execute(db);
    await db.destroy();
    return rows;
  }

  /** Waits for all jobs and returns one. */
  async finished(projectId: string, jobId: string) {
    await this.service.idle();
    if (this.others) await this.haveLoaded([this.service, this.others.api]);
    return this.call("getJob", { projectId, jobId });
  }

  /** Waits until processes have loaded the latest deployments. */
  private async haveLoaded(apis: readonly Api[]): Promise<void> {
    for (const { url, key } of apis) {
      const isLoaded = async () => {
        const { body } = await super.raw(`${url}/status`, { headers: { apikey: key } });
        return body.deployments.every(({ loaded }: { loaded: boolean }) => loaded);
      };
      while (!(await isLoaded()));
    }
  }

  async end(): Promise<void> {
    await this.close();
    await Promise.all([this.service, this.others?.api, this.others?.worker].map((one) => one?.close()));
    await this.drop();
  }
}

type Api = Awaited<ReturnType<typeof startElsewhere>>;

/** Starts a second API process with the public address of the first, as behind a proxy, and a worker. */
async function startOthers({ dataDir: _, ...options }: StartOptions, { url }: Service) {
  const api = await startElsewhere({ ...options, role: "api", publicUrl: url });
  return { api, worker: await startService({ ...options, role: "worker", publicUrl: url }) };
}
