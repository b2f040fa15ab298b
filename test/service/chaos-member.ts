import { setTimeout as sleep } from "node:timers/promises";
import { Cable } from "./cable";
import { type ServiceProcess, serve } from "./process";

/** A process of the service that is restarted whenever it was killed. */
export class Member {
  private running: ServiceProcess | undefined;
  private saidBefore = "";
  /** Whether the process has not recovered yet from the last fault. */
  isStruck = false;
  /** Times at which the process was paused. */
  readonly stops: { readonly began: number; ended: number }[] = [];
  /** Errors of failed starts. */
  readonly failedStarts: string[] = [];

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

  /** Returns the log of all its processes. */
  get said(): string {
    return this.saidBefore + (this.running?.said() ?? "");
  }

  /** Returns the output and exit code of the process if it ended without being killed. */
  get fate(): string | undefined {
    const { exitCode, signalCode } = this.running?.child ?? {};
    if (exitCode == null && signalCode == null) return undefined;
    return `${this.role} ended by itself (${exitCode ?? signalCode}): ${this.running?.said().slice(-2000)}`;
  }

  private async serve(): Promise<void> {
    // At the same port each time, because clients know it.
    const port = this.running ? ["--port", new URL(this.url).port] : [];
    this.running = await serve("--store", this.cable.url, "--role", this.role, ...port, ...this.options);
  }

  async kill(): Promise<void> {
    await this.running?.end("SIGKILL");
    this.saidBefore = this.said;
    // A process exits if it loses the database while it starts. A supervisor would restart it.
    for (;;) {
      try {
        return await this.serve();
      } catch (error) {
        if (!unusableDatabase.test(String(error))) throw error;
        this.failedStarts.push(String(error));
      }
    }
  }

  /** Pauses the process. */
  async stop(ms: number): Promise<void> {
    const stop = { began: Date.now(), ended: Number.POSITIVE_INFINITY };
    this.stops.push(stop);
    this.running?.child.kill("SIGSTOP");
    await sleep(ms);
    this.running?.child.kill("SIGCONT");
    stop.ended = Date.now();
  }

  /** Returns the response of `/readyz`, or undefined if there is none. */
  async readiness(): Promise<{ readonly isReady: boolean; readonly store: string } | undefined> {
    try {
      const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(500) });
      const { store } = (await answer.json()) as { store: string };
      return { isReady: answer.ok, store };
    } catch {
      return undefined;
    }
  }

  async isReady(): Promise<boolean> {
    return (await this.readiness())?.isReady === true;
  }

  async end(): Promise<void> {
    await this.running?.end();
    this.cable.close();
  }
}

/** Error of a start that fails because of the database. */
const unusableDatabase =
  /Connection terminated|terminating connection|Cannot\s+use\s+the\s+database|database.*(cannot\s+be\s+reached|took\s+too\s+long|accepts\s+no\s+writes|is\s+full)/is;
