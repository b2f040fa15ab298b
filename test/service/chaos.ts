import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { Cable } from "./cable";
import { type ServiceProcess, serve } from "./process";

/** Numbers that are the same for the same seed, from 0 up to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** One process of the service, started again whenever it was killed. */
export class Member {
  private running: ServiceProcess | undefined;
  /** Not to be struck again before it answers again. */
  isStruck = false;

  private constructor(
    readonly role: "api" | "worker",
    readonly cable: Cable,
    private readonly options: readonly string[],
  ) {}

  static async start(role: "api" | "worker", databaseUrl: string, options: readonly string[]) {
    const member = new Member(role, await Cable.to(databaseUrl), options);
    await member.serve();
    return member;
  }

  get url(): string {
    return this.running?.url as string;
  }

  get key(): string {
    return this.running?.key as string;
  }

  /** What the process has said, and with what it ended, where it ended without being killed. */
  get fate(): string | undefined {
    const { exitCode, signalCode } = this.running?.child ?? {};
    if (exitCode == null && signalCode == null) return undefined;
    return `${this.role} ended by itself (${exitCode ?? signalCode}): ${this.running?.said().slice(-2000)}`;
  }

  private async serve(): Promise<void> {
    // At the same port each time: its clients know it by that.
    const port = this.running ? ["--port", new URL(this.url).port] : [];
    this.running = await serve("--store", this.cable.url, "--role", this.role, ...port, ...this.options);
  }

  async kill(): Promise<void> {
    await this.running?.end("SIGKILL");
    // A process that loses the database while it starts ends and says so; whoever keeps it starts it again.
    while (
      !(await this.serve().then(
        () => true,
        (error) =>
          !/Connection terminated|terminating connection|database.*cannot\s+be\s+(reached|used)/s.test(
            String(error),
          ) && Promise.reject(error),
      ))
    );
  }

  /** Lets it stand still for so long. */
  async stop(ms: number): Promise<void> {
    this.running?.child.kill("SIGSTOP");
    await sleep(ms);
    this.running?.child.kill("SIGCONT");
  }

  async isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(500);
    return fetch(`${this.url}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async end(): Promise<void> {
    await this.running?.end();
    this.cable.close();
  }
}

/** Longer than a struck process takes to come back, however busy the machine is. */
const longestWaitMs = 120_000;

/** What can happen to a process, to its connections, or to the database. */
export const strokes = ["kill", "stop", "cut", "terminate", "crash"] as const;

/** Two APIs and two workers over one database. */
export class Cluster {
  /** How often each stroke fell. */
  readonly fell = new Map<string, number>();
  /** When the database was down: from, and until when. */
  private readonly outages: [began: number, ended: number][] = [];
  private readonly recovering = new Set<Promise<void>>();
  private failure: unknown;

  private constructor(
    readonly members: readonly Member[],
    private readonly databaseUrl: string,
    private readonly leaseMs: number,
    private readonly random: () => number,
  ) {}

  static async start(databaseUrl: string, leaseMs: number, random: () => number): Promise<Cluster> {
    const options = ["--lease-ms", String(leaseMs)];
    const members = await Promise.all(
      (["api", "api", "worker", "worker"] as const).map((role) => Member.start(role, databaseUrl, options)),
    );
    return new Cluster(members, databaseUrl, leaseMs, random);
  }

  get apis(): Member[] {
    return this.members.filter(({ role }) => role === "api");
  }

  /** Strikes somebody who may be struck: one API always lives. Fails where somebody does not come back. */
  async strike(): Promise<void> {
    // Each kind once, then any.
    const left = strokes.filter((kind) => !this.fell.has(kind));
    const kinds = left.length > 0 ? left : strokes;
    const stroke = kinds[Math.floor(this.random() * kinds.length)] as (typeof strokes)[number];
    const first = Math.floor(this.random() * this.members.length);
    this.fell.set(stroke, (this.fell.get(stroke) ?? 0) + 1);
    if (stroke === "terminate") return this.terminate();
    if (stroke === "crash") return this.crash();
    const until = Date.now() + longestWaitMs;
    for (let at = first; ; at++) {
      if (this.failure !== undefined) throw this.failure;
      if (Date.now() > until)
        throw new Error(`nobody could be struck for ${longestWaitMs} ms: ${this.states().join(", ")}`);
      const member = this.members[at % this.members.length] as Member;
      if (stroke === "cut") return member.cable.cut();
      if (member.isStruck || (member.role === "api" && !(await this.isOtherReady(member)))) {
        await sleep(50);
        continue;
      }
      member.isStruck = true;
      const struck = stroke === "kill" ? member.kill() : member.stop(this.leaseMs * 1.5);
      const recovery = struck
        .then(async () => {
          while (!(await member.isReady())) await sleep(50);
          member.isStruck = false;
        })
        .catch((error) => {
          this.failure ??= error;
        })
        .finally(() => this.recovering.delete(recovery));
      this.recovering.add(recovery);
      return;
    }
  }

  private async isOtherReady(api: Member): Promise<boolean> {
    const other = this.apis.find((one) => one !== api) as Member;
    return !other.isStruck && other.isReady();
  }

  /** Ends a random connection at the side of the database. */
  private async terminate(): Promise<void> {
    await askDatabase(this.databaseUrl, `select pg_terminate_backend(${await this.backend()})`);
  }

  /** Kills a random backend, upon which PostgreSQL ends all of them and recovers as after a loss of power. */
  private async crash(): Promise<void> {
    const pid = await this.backend();
    const witness = new Client({ connectionString: this.databaseUrl });
    await witness.connect();
    const ended = new Promise<void>((resolve) => witness.on("error", () => resolve()));
    const outage: [number, number] = [performance.now(), Number.POSITIVE_INFINITY];
    this.outages.push(outage);
    process.kill(pid, "SIGKILL");
    await ended;
    const answers = () => askDatabase(this.databaseUrl, "select 1").then(Boolean, () => false);
    while (!(await answers())) await sleep(5);
    outage[1] = performance.now();
  }

  /** For how long the database was down between two moments: nobody can answer then, as events are read for each answer. */
  downMs(from: number, to: number): number {
    return this.outages.reduce(
      (sum, [began, ended]) => sum + Math.max(0, Math.min(ended, to) - Math.max(began, from)),
      0,
    );
  }

  /** For how long the database was down at most. */
  longestOutageMs(): number {
    return Math.max(0, ...this.outages.map(([began, ended]) => ended - began));
  }

  /** The process of a random connection, at the side of the database. */
  private async backend(): Promise<number> {
    const ofService = "datname = current_database() and application_name = 'recommender'";
    for (;;) {
      const rows = await askDatabase<{ pid: number }>(
        this.databaseUrl,
        `select pid from pg_stat_activity where ${ofService} order by pid`,
      );
      const row = rows[Math.floor(this.random() * rows.length)];
      if (row) return row.pid;
      await sleep(20);
    }
  }

  /** How everybody is, for people. */
  states(): string[] {
    return this.members.map(
      (member) => `${member.role} ${member.fate ?? (member.isStruck ? "is struck" : "lives")}`,
    );
  }

  /** Waits until everybody who was struck answers again. */
  async recover(): Promise<void> {
    const all = Promise.all(this.recovering).then(() => true);
    if (!(await Promise.race([all, sleep(longestWaitMs, false, { ref: false })])))
      throw new Error(`not all came back within ${longestWaitMs} ms: ${this.states().join(", ")}`);
    if (this.failure !== undefined) throw this.failure;
  }

  async end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()));
  }
}

/** Asks the database itself. */
export async function askDatabase<T>(url: string, statement: string): Promise<T[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows as T[];
}
