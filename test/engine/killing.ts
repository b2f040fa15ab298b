import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type FaultProxy, type Passage, send } from "../faults/proxy";
import { linkedDirectory, secretsProvider } from "./workspace";

/** Binding of a run. Resources that the run only deletes keep their earlier binding. */
export type Binding = "dynamic" | "plugin";

/** Command line of the process that runs the lifecycles, by binding. */
const processOf: Record<Binding, RegExp> = {
  dynamic: /node .*dynamic-provider/,
  plugin: /node .*provider\/plugin\/main/,
};

/** Process to kill. */
export type Target = "engine" | "provider";

/** Time of a kill: at a changing call, or some time after the first call. */
export type Moment =
  | { readonly at: number; readonly phase: "sent" | "taken" }
  | { readonly at: number; readonly phase: "answered"; readonly ms: number }
  | { readonly ms: number };

/** Kill of a run. */
export interface Kill {
  readonly signal: "SIGINT" | "SIGTERM" | "SIGKILL";
  readonly target: Target;
  readonly moment: Moment;
}

/** Result of a run of the engine. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
  /** Whether the kill happened before the end of the run. */
  readonly struck: boolean;
}

/** Directory with a JavaScript program. Its engine commands run in processes that can be killed. */
export class KillingGround {
  readonly #groups = new Set<number>();
  readonly #providers = new Set<number>();
  #latest: number | undefined;

  private constructor(
    readonly directory: string,
    private readonly environment: Record<string, string>,
  ) {}

  static async make(program: string, environment: Record<string, string>): Promise<KillingGround> {
    const ground = new KillingGround(await linkedDirectory(), environment);
    const write = (name: string, text: string) => writeFileSync(join(ground.directory, name), text);
    write("Pulumi.yaml", JSON.stringify({ name: "kill", runtime: "nodejs" }));
    write("package.json", JSON.stringify({ name: "kill", private: true, main: "index.js" }));
    write("index.js", program);
    return ground;
  }

  /** Creates a stack and selects it. */
  async init(stack: string): Promise<void> {
    const args = ["stack", "init", stack, "--secrets-provider", secretsProvider];
    const { code, output } = await this.run(args, {});
    if (code !== 0) throw new Error(output);
  }

  /** Runs a command of the engine until it exits or is killed. */
  async run(
    args: string[],
    env: Record<string, string>,
    proxy?: FaultProxy,
    kill?: Kill,
    cwd = this.directory,
  ): Promise<Ended> {
    const child = spawn("pulumi", [...args, "--non-interactive"], {
      cwd,
      // A separate process group, so the remaining processes of a killed engine can be found.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.#settings(), ...this.environment, ...env },
    });
    this.#latest = child.pid;
    this.#groups.add(child.pid as number);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        output += text;
      });
    }
    const exit = once(child, "exit");
    const blow =
      kill && proxy ? new Blow(child, kill, proxy, this.#providers, env.RECOMMENDER_BINDING) : undefined;
    await exit;
    blow?.miss();
    return { code: child.exitCode, output, struck: blow?.struck ?? false };
  }

  /** Kills the process that runs the lifecycles of the current command. */
  killProvider(signal: Kill["signal"]): void {
    process.kill(providerOf(this.#latest as number), signal);
  }

  /** Paths of the recovery journal and of the state file of a stack. */
  places(stack: string): { journal: string; stateFile: string } {
    return {
      journal: join(this.directory, "xdg/pulumi-recommender/creations"),
      stateFile: join(this.directory, "state/.pulumi/stacks/kill", `${stack}.json`),
    };
  }

  /**
   * Repairs the files of a killed engine, as described in docs/reliability.md. A backend in a directory writes
   * them in place. Returns whether there was anything to repair.
   */
  mend(stack: string): boolean {
    const { stateFile } = this.places(stack);
    const isEmpty = (file: string) => statSync(file, { throwIfNoEntry: false })?.size === 0;
    const attributes = isEmpty(`${stateFile}.attrs`);
    const state = isEmpty(stateFile);
    if (attributes) rmSync(`${stateFile}.attrs`);
    if (state) copyFileSync(`${stateFile}.bak`, stateFile);
    return attributes || state;
  }

  /** Reads the state of a stack from the backend. */
  state(stack: string): { resources: StateEntry[]; pending: unknown[] } {
    const { checkpoint } = JSON.parse(readFileSync(this.places(stack).stateFile, "utf8"));
    const { resources = [], pending_operations: pending = [] } = checkpoint.latest ?? {};
    return { resources, pending };
  }

  /** Whether a killed engine has left the stack locked. */
  isLocked(stack: string): boolean {
    try {
      return readdirSync(join(this.directory, "state/.pulumi/locks/organization/kill", stack)).length > 0;
    } catch {
      return false;
    }
  }

  /** Ends the remaining processes of killed engines and deletes the directory. */
  async dispose(): Promise<void> {
    const running = processes().filter(({ command }) => command.includes("pulumi"));
    const ours = running.filter(({ pid, group }) => this.#providers.has(pid) || this.#groups.has(group));
    for (const { pid } of ours) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The process has already exited.
      }
    }
    await rm(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }

  #settings(): Record<string, string> {
    return {
      PULUMI_HOME: join(this.directory, "home"),
      PULUMI_BACKEND_URL: `file://${join(this.directory, "state")}`,
      PULUMI_SKIP_UPDATE_CHECK: "1",
      RECOMMENDER_PROGRAM: "javascript",
      XDG_STATE_HOME: join(this.directory, "xdg"),
    };
  }
}

/** Resource in the state. */
export interface StateEntry {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly delete?: boolean;
  readonly initErrors?: string[];
}

/** Waits for a call in the proxy and then kills the process. */
class Blow {
  struck = false;
  /** Stops waiting, because the run has ended. */
  readonly miss: () => void;
  #changes = 0;
  #provider: number | undefined;

  constructor(
    private readonly engine: ChildProcess,
    private readonly kill: Kill,
    proxy: FaultProxy,
    private readonly providers: Set<number>,
    private readonly binding?: string,
  ) {
    this.miss = proxy.on("*", (passage) => this.#look(passage), { times: Number.POSITIVE_INFINITY });
  }

  async #look({ call, response, pass }: Passage): Promise<void> {
    const { moment } = this.kill;
    this.#findProvider(moment);
    const isIt = !call.startsWith("GET") && "at" in moment && ++this.#changes === moment.at;
    if (!isIt) return send(response, await pass());
    if (moment.phase === "sent") this.#strike();
    const answer = await pass();
    if (moment.phase === "taken") {
      this.#strike();
      // The signal must not arrive after the response.
      await sleep(5);
    }
    send(response, answer);
    if (moment.phase === "answered") {
      await sleep(moment.ms);
      this.#strike();
    }
  }

  /** Finds the process at the first call, because that takes too long at the time of the kill. */
  #findProvider(moment: Moment): void {
    if (this.#provider !== undefined) return;
    this.#provider = providerOf(this.engine.pid as number, this.binding);
    this.providers.add(this.#provider);
    if (!("at" in moment)) void sleep(moment.ms).then(() => this.#strike());
  }

  #strike(): void {
    const { signal, target } = this.kill;
    const pid = target === "engine" ? this.engine.pid : this.#provider;
    if (this.engine.exitCode !== null || this.engine.signalCode !== null) return;
    try {
      this.struck = process.kill(pid as number, signal);
    } catch (error) {
      // The engine ends the provider before itself, so the run was already over.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly command: string;
}

function processes(): Process[] {
  const table = execFileSync("ps", ["-Ao", "pid=,ppid=,pgid=,args="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [, pid, parent, group, command] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return command === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }];
  });
}

/** Finds the process that runs the lifecycles for an engine, by its binding if there are two. */
function providerOf(engine: number, binding?: string): number {
  const all = processes();
  const below = new Set([engine]);
  // Parents can be listed after their children, so a few rounds are needed to find all descendants.
  for (let round = 0; round < 5; round++)
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  const ours = all.filter(({ pid }) => below.has(pid));
  const found = Object.entries(processOf)
    .sort(([name]) => (name === binding ? -1 : 1))
    .flatMap(([, pattern]) => ours.filter(({ command }) => pattern.test(command)));
  if (!found[0]) throw new Error("no process runs the lifecycles");
  return found[0].pid;
}
