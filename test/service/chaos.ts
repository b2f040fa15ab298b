import { setTimeout as sleep } from "node:timers/promises";
import type { ChaosDatabase, DatabaseFault, Ways } from "./chaos-database";
import { Member } from "./chaos-member";
import { askDatabase } from "./database";

/** Returns a seeded random number generator, from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Longer than a process takes to recover from a fault on a busy machine. */
const longestWaitMs = 120_000;

/** Faults of a process or its connections. */
const processFaults = ["kill", "stop", "cut", "terminate"] as const;

/** Faults of a process, its connections or the database. */
export type Stroke = (typeof processFaults)[number] | DatabaseFault;

/** Two API processes and two workers with one database. */
export class Cluster implements Ways {
  /** Number of faults of each kind. */
  readonly fell = new Map<Stroke, number>();
  private readonly recovering = new Set<Promise<void>>();
  private failure: unknown;

  private constructor(
    readonly members: readonly Member[],
    private readonly database: ChaosDatabase,
    private readonly leaseMs: number,
    private readonly random: () => number,
  ) {}

  static async start(database: ChaosDatabase, leaseMs: number, random: () => number): Promise<Cluster> {
    // Jobs are delayed, so most faults hit a running job.
    const options = ["--lease-ms", String(leaseMs), "--job-delay", "1500"];
    const members = await Promise.all(
      (["api", "api", "worker", "worker"] as const).map((role) => Member.start(role, database.url, options)),
    );
    return new Cluster(members, database, leaseMs, random);
  }

  get apis(): Member[] {
    return this.members.filter(({ role }) => role === "api");
  }

  /** Faults that are possible on this machine. */
  get strokes(): readonly Stroke[] {
    return [...processFaults, ...this.database.faults];
  }

  /** Causes a fault, but keeps one API process healthy. Fails if a process does not recover. */
  async strike(): Promise<Stroke> {
    // Each kind once, then random kinds.
    const left = this.strokes.filter((kind) => !this.fell.has(kind));
    const kinds = left.length > 0 ? left : this.strokes;
    const stroke = kinds[Math.floor(this.random() * kinds.length)] as Stroke;
    this.fell.set(stroke, (this.fell.get(stroke) ?? 0) + 1);
    if (stroke === "terminate")
      await askDatabase(this.database.url, `select pg_terminate_backend(${await this.database.backend()})`);
    else if (stroke === "cut") this.members[Math.floor(this.random() * this.members.length)]?.cable.cut();
    else if (stroke === "kill" || stroke === "stop") await this.strikeOne(stroke);
    else await this.database.suffer(stroke, this);
    return stroke;
  }

  private async strikeOne(stroke: "kill" | "stop"): Promise<void> {
    const first = Math.floor(this.random() * this.members.length);
    const until = Date.now() + longestWaitMs;
    for (let at = first; ; at++) {
      if (this.failure !== undefined) throw this.failure;
      if (Date.now() > until)
        throw new Error(`nobody could be struck for ${longestWaitMs} ms: ${this.states().join(", ")}`);
      const member = this.members[at % this.members.length] as Member;
      if (!member.isStruck && (member.role === "worker" || (await this.isOtherReady(member))))
        return this.follow(
          member,
          stroke === "kill" ? () => member.kill() : () => member.stop(this.leaseMs * 1.5),
        );
      await sleep(50);
    }
  }

  /** Causes a fault of a process and waits until it is ready again. */
  private follow(member: Member, strike: () => Promise<void>): void {
    member.isStruck = true;
    const recovery = strike()
      .then(async () => {
        while (!(await member.isReady())) await sleep(50);
        member.isStruck = false;
      })
      .catch((error) => {
        this.failure ??= error;
      })
      .finally(() => this.recovering.delete(recovery));
    this.recovering.add(recovery);
  }

  private async isOtherReady(api: Member): Promise<boolean> {
    const other = this.apis.find((one) => one !== api) as Member;
    return !other.isStruck && other.isReady();
  }

  silence(): void {
    for (const { cable } of this.members) cable.fallSilent();
  }

  speak(): void {
    for (const { cable } of this.members) cable.speak();
  }

  async lead(url: string): Promise<void> {
    // One API process at once, the others later. Clients reach the new primary through it.
    this.apis[0]?.cable.lead(url);
    for (const { cable } of this.members) {
      await sleep(this.random() * 500);
      cable.lead(url);
    }
  }

  async restartOne(): Promise<void> {
    const members = this.members.filter(({ isStruck }) => !isStruck);
    const member = members[Math.floor(this.random() * members.length)];
    if (!member) return;
    const before = member.failedStarts.length;
    this.follow(member, () => member.kill());
    while (member.isStruck && member.failedStarts.length === before && this.failure === undefined)
      await sleep(20);
  }

  /** Waits until all processes without a fault of their own are ready. */
  async ready(): Promise<void> {
    for (const member of this.members)
      while (!member.isStruck && member.fate === undefined && !(await member.isReady())) await sleep(20);
  }

  /** Returns the state of all processes, for messages. */
  states(): string[] {
    return this.members.map(
      (member) => `${member.role} ${member.fate ?? (member.isStruck ? "is struck" : "lives")}`,
    );
  }

  /** Waits until all processes have recovered. */
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
