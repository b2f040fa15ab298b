import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type Postgres, startPostgres } from "../../tools/postgres/start.js";
import { askDatabase } from "./database";

/** Faults of the whole database. */
export const databaseFaults = [
  "crash",
  "down",
  "silent",
  "read-only",
  "full",
  "failover",
  "restore",
] as const;

/** Faults of the whole database. */
export type DatabaseFault = (typeof databaseFaults)[number];

/** Time during which the database could not be used. */
export interface Outage {
  readonly fault: DatabaseFault;
  readonly began: number;
  ended: number;
}

/** Connections of the processes to the database. */
export interface Ways {
  silence(): void;
  speak(): void;
  /** Sends new connections to another server, one process after the other. Resolves when all processes use it. */
  lead(url: string): Promise<void>;
  /** Kills a process and starts it again, while the database does not accept connections yet. */
  restartOne(): Promise<unknown>;
}

const diskMegabytes = 256;
const database = "shop";

/** A PostgreSQL server that crashes, stops, rejects writes, runs out of space, fails over and is restored. */
export class ChaosDatabase {
  readonly outages: Outage[] = [];
  /** Times at which the disk was full. Reading works then, so these are not outages. */
  readonly fullTimes: Outage[] = [];

  private constructor(
    private server: Postgres,
    private readonly random: () => number,
    private readonly longestMs: number,
  ) {}

  /** Starts a server with durable commits. */
  static async start(random: () => number, longestMs: number): Promise<ChaosDatabase> {
    const server = await startPostgres({ durable: true, own: true, diskMegabytes });
    const { disk, url } = server;
    if (disk) await askDatabase(url, `create tablespace small location '${join(disk, "tables")}'`);
    await askDatabase(url, `create database ${database} ${disk ? "tablespace small" : ""}`);
    return new ChaosDatabase(server, random, longestMs);
  }

  get url(): string {
    return inDatabase(this.server.url);
  }

  /** Faults that are possible on this machine. Only root can mount a disk for a test to fill. */
  get faults(): readonly DatabaseFault[] {
    return databaseFaults.filter((fault) => fault !== "full" || this.server.disk !== undefined);
  }

  /** Causes a fault and resolves when it is over. */
  async suffer(fault: DatabaseFault, ways: Ways): Promise<void> {
    // Between five seconds and the maximum, mostly short.
    const ms = 5000 * (this.longestMs / 5000) ** this.random();
    if (fault === "full") return this.fill(ms);
    if (fault === "failover") return this.failOver(ways);
    const outage = this.begin(fault);
    if (fault === "crash") await this.crash();
    else if (fault === "down") await this.beDown(ms);
    else if (fault === "silent") await beSilent(ms, ways);
    else if (fault === "read-only") await this.refuseWrites(ms);
    else return this.restore(outage, ways);
    outage.ended = performance.now();
  }

  private begin(fault: DatabaseFault): Outage {
    const outage = { fault, began: performance.now(), ended: Number.POSITIVE_INFINITY };
    this.outages.push(outage);
    return outage;
  }

  /** Kills a backend. PostgreSQL then ends all backends and recovers as after a power failure. */
  private async crash(): Promise<void> {
    const witness = new Client({ connectionString: this.url });
    await witness.connect();
    const ended = new Promise<void>((resolve) => witness.on("error", () => resolve()));
    process.kill(await this.backend(), "SIGKILL");
    await ended;
    await this.answers();
  }

  private async beDown(ms: number): Promise<void> {
    await this.server.halt();
    await sleep(ms);
    await this.server.resume();
    await this.answers();
  }

  private async refuseWrites(ms: number): Promise<void> {
    await setReadOnly(this.server, true);
    await sleep(ms);
    await setReadOnly(this.server, false);
  }

  /** Fills the disk of the tables. The write-ahead log is on another disk. */
  private async fill(ms: number): Promise<void> {
    const balloon = join(String(this.server.disk), "balloon");
    const began = performance.now();
    const file = openSync(balloon, "w");
    try {
      for (;;) writeSync(file, Buffer.alloc(8192));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
    closeSync(file);
    await sleep(ms);
    rmSync(balloon);
    this.fullTimes.push({ fault: "full", began, ended: performance.now() });
  }

  /**
   * Promotes a standby. The old primary becomes read-only, before or after the promotion, and the processes keep their
   * connections to it. Replication is synchronous, so nothing acknowledged is lost.
   */
  private async failOver(ways: Ways): Promise<void> {
    const old = this.server;
    const isPlanned = this.random() < 0.5;
    const standby = await startPostgres({ durable: true, own: true, diskMegabytes, standbyOf: old });
    await askDatabase(old.url, "alter system set synchronous_standby_names = '*'");
    await askDatabase(old.url, "select pg_reload_conf()");
    const isInSync = async () =>
      (await askDatabase(old.url, "select from pg_stat_replication where sync_state = 'sync'")).length > 0;
    while (!(await isInSync())) await sleep(50);
    // From now on, both servers have every transaction.
    await sleep(2000);
    const outage = this.begin("failover");
    if (isPlanned) await setReadOnly(old, true);
    await askDatabase(standby.url, "select pg_promote()");
    if (!isPlanned) await setReadOnly(old, true);
    this.server = standby;
    await ways.lead(this.url);
    outage.ended = performance.now();
    // Processes with a connection to the old primary must not answer from it.
    await sleep(5000);
    await old.stop();
  }

  /** Restores the server from its files and an archive that takes a second for each file. */
  private async restore(outage: Outage, ways: Ways): Promise<void> {
    await this.server.halt();
    writeFileSync(join(this.server.data, "recovery.signal"), "");
    // Sometimes the server accepts readers before the restore has ended.
    const hotStandby = this.random() < 0.5 ? "on" : "off";
    await this.server.resume(["restore_command=sleep 1; false", `hot_standby=${hotStandby}`]);
    await this.isStarting();
    const restarted = ways.restartOne();
    await this.answers();
    while ((await askDatabase<{ is: boolean }>(this.url, "select pg_is_in_recovery() as is"))[0]?.is)
      await sleep(20);
    outage.ended = performance.now();
    await restarted;
  }

  private async isStarting(): Promise<void> {
    const refusal = () =>
      askDatabase(this.url, "select 1").then(
        () => "",
        ({ code }) => String(code),
      );
    while ((await refusal()) !== "57P03") await sleep(5);
  }

  private async answers(): Promise<void> {
    while (
      !(await askDatabase(this.url, "select 1").then(
        () => true,
        () => false,
      ))
    )
      await sleep(5);
  }

  /** Returns the backend process of a random connection. */
  async backend(): Promise<number> {
    const ofService = "datname = current_database() and application_name = 'recommender'";
    for (;;) {
      const rows = await askDatabase<{ pid: number }>(
        this.url,
        `select pid from pg_stat_activity where ${ofService} order by pid`,
      );
      const row = rows[Math.floor(this.random() * rows.length)];
      if (row) return row.pid;
      await sleep(20);
    }
  }

  /** Returns how long the database could not be used between two moments. */
  downMs(from: number, to: number): number {
    return this.outages.reduce(
      (sum, { began, ended }) => sum + Math.max(0, Math.min(ended, to) - Math.max(began, from)),
      0,
    );
  }

  /** Whether a failover happened after a moment, or is happening. */
  failedOverSince(moment: number): boolean {
    return this.outages.some(({ fault, ended }) => fault === "failover" && ended >= moment);
  }

  /** Stops the server. */
  stop(): Promise<void> {
    return this.server.stop();
  }
}

async function beSilent(ms: number, ways: Ways): Promise<void> {
  ways.silence();
  await sleep(ms);
  ways.speak();
}

/** Makes a server read-only, also for open sessions, or writable again. */
async function setReadOnly({ url }: Postgres, isReadOnly: boolean): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    isReadOnly
      ? "alter system set default_transaction_read_only = on"
      : "alter system reset default_transaction_read_only",
  );
  await client.query("select pg_reload_conf()");
  const state = async () =>
    (await client.query("show default_transaction_read_only")).rows[0].default_transaction_read_only;
  while ((await state()) !== (isReadOnly ? "on" : "off")) await sleep(5);
  await client.end();
}

function inDatabase(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.pathname = database;
  return url.href;
}
