import { setTimeout as sleep } from "node:timers/promises";
import { Cable } from "./cable";
import { type ServiceProcess, serve } from "./process";

/** One process of the service, started again whenever it was killed. */
export class Member {
  private running: ServiceProcess | undefined;
  private saidBefore = "";
  /** Not to be struck again before it answers again. */
  isStruck = false;
  /** When it stood still. */
  readonly stops: { readonly began: number; ended: number }[] = [];
  /** Why the process could not start, each time that it could not. */
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

  /** All that its processes have logged. */
  get said(): string {
    return this.saidBefore + (this.running?.said() ?? "");
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
    this.saidBefore = this.said;
    // A process that loses the database while it starts ends and says so; whoever keeps it starts it again.
    for (;;) {
      try {
        return await this.serve();
      } catch (error) {
        if (!unusableDatabase.test(String(error))) throw error;
        this.failedStarts.push(String(error));
      }
    }
  }

  /** Lets it stand still for so long. */
  async stop(ms: number): Promise<void> {
    const stop = { began: Date.now(), ended: Number.POSITIVE_INFINITY };
    this.stops.push(stop);
    this.running?.child.kill("SIGSTOP");
    await sleep(ms);
    this.running?.child.kill("SIGCONT");
    stop.ended = Date.now();
  }

  /** What `/readyz` answers; undefined without an answer. */
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

/** What a process says that cannot start because of the database. */
const unusableDatabase =
  /Connection terminated|terminating connection|database.*(cannot\s+be\s+(reached|used)|took\s+too\s+long|accepts\s+no\s+writes|is\s+full)/is;
