import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { engineProcess } from "./engine-command";
import { isSameEntry, type Properties, type StateEntry, stateEntryOf } from "./state-entry";
import { canonicalUrn, partsOf, resourceTypeOf } from "./urn";

/** What the stacks of a backend hold. */
export interface StackState {
  /** The rows of the stack that the given row belongs to. */
  entries(of: StateEntry): Promise<readonly StateEntry[]>;
  /** The rows that earlier runs left of a resource, also the replaced ones; none if the state cannot be read. */
  entriesNamed(urn: string): Promise<readonly StateEntry[]>;
  /** The rows of every stack of the backend, this one too. */
  allStacks(): Promise<BackendEntries>;
  /** The stacks of the backend as `project/stack`, listed for a project; undefined if they cannot be listed. */
  stacks(project: string): Promise<ReadonlySet<string> | undefined>;
}

/** What the stacks of a backend hold, as far as their states can be read. */
export interface BackendEntries {
  readonly entries: readonly StateEntry[];
  /** Stacks whose state could not be read. */
  readonly unread: readonly string[];
}

/** The state could not be read, so that it is not known who else holds a thing. */
export class StackStateError extends Error {
  override readonly name = "StackStateError";
}

const run = promisify(execFile);

/** How the Pulumi CLI is run. */
export interface Cli {
  readonly program: string;
  /** How long one command may take. */
  readonly timeoutMs: number;
}

/** The Pulumi CLI of the engine that this process works for. */
export function pulumiCli(given: Partial<Cli> = {}): Cli {
  return { program: engineProcess()?.program ?? "pulumi", timeoutMs: 120_000, ...given };
}

/**
 * Asks the Pulumi CLI for the state: the engine informs a provider only of the resources that a run is about, and of each
 * only when its turn comes.
 */
export function cliStackState(given: Partial<Cli> = {}): StackState {
  const cli = pulumiCli(given);
  const entries: StackState["entries"] = async (of) => {
    const stack = /^urn:pulumi:(.+?)::/.exec(of.urn)?.[1];
    const unreadable = (why: string, fix: string) =>
      new StackStateError(
        `cannot read the state of stack ${stack ?? "(unnamed)"}: ${why}. ${fix}, and run the same command again.`,
      );
    const reasons: string[] = [];
    for await (const way of waysTo(stack, cli)) {
      const command = commandOf(way);
      try {
        const rows = await exported(way, cli);
        if (rows.some((row) => isSameEntry(row, of))) return rows;
        reasons.push(`${command} shows no ${of.type} ${of.id}`);
      } catch (error) {
        // The other ways go to the same backend, which would take as long again.
        if (hasTimedOut(error)) {
          throw unreadable(
            `${command} took longer than ${cli.timeoutMs / 1000} s`,
            `Run ${command} yourself to see what keeps it: the network, the backend, or a login that has expired`,
          );
        }
        reasons.push(`${command}: ${reasonOf(error as Error & { stderr?: string })}`);
      }
    }
    throw unreadable(reasons.join("; "), "Put `pulumi` on PATH, select the stack with `pulumi stack select`");
  };
  // Read once: what earlier runs have stored does not change.
  const before = new Map<string, Promise<StateEntry[]>>();
  const entriesNamed: StackState["entriesNamed"] = async (urn) => {
    const { stack } = partsOf(urn);
    const all = before.get(stack) ?? exported(["--stack", stack], cli).catch(() => []);
    before.set(stack, all);
    return (await all).filter((row) => canonicalUrn(row.urn) === canonicalUrn(urn));
  };
  return {
    entries,
    entriesNamed,
    allStacks: () => readAllStacks(cli),
    stacks: (project) => stacks(project, cli),
  };
}

/** How many states are read at once. */
const readersAtOnce = 4;

async function readAllStacks(cli: Cli): Promise<BackendEntries> {
  const names = await listed(cli);
  if (!names) return { entries: [], unread: ["all stacks"] };
  const [entries, unread]: [StateEntry[], string[]] = [[], []];
  const until = Date.now() + cli.timeoutMs;
  const open = [...names];
  const read = async () => {
    for (let name = open.shift(); name !== undefined; name = open.shift()) {
      const timeoutMs = until - Date.now();
      const found =
        timeoutMs > 0 ? await exported(["--stack", name], { ...cli, timeoutMs }).catch(() => {}) : undefined;
      if (found) entries.push(...found);
      else unread.push(name);
    }
  };
  await Promise.all(Array.from({ length: readersAtOnce }, read));
  return { entries, unread };
}

async function stacks(current: string, cli: Cli): Promise<ReadonlySet<string> | undefined> {
  const names = await listed(cli);
  // The stacks of the current project are listed without its name.
  const qualified = (name: string) => {
    const parts = name.split("/");
    return `${parts.length > 2 ? parts.at(-2) : current}/${parts.at(-1)}`;
  };
  return names && new Set(names.map(qualified));
}

async function listed({ program, timeoutMs }: Cli): Promise<string[] | undefined> {
  try {
    const args = ["stack", "ls", "--all", "--json", "--non-interactive"];
    const { stdout } = await run(program, args, { timeout: timeoutMs, maxBuffer: 2 ** 30 });
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/**
 * Where a row may be: in the stack that it was created in, which the state keeps without its organisation; in the stack
 * that is selected; or in any other, as `pulumi state move` leaves the row's own idea of its stack as it was.
 */
async function* waysTo(stack: string | undefined, cli: Cli): AsyncGenerator<string[]> {
  if (stack) yield ["--stack", stack];
  yield [];
  const found = run(cli.program, ["stack", "ls", "--json", "--non-interactive"], { timeout: cli.timeoutMs });
  const { stdout } = await found.catch(() => ({ stdout: "[]" }));
  for (const { name } of JSON.parse(stdout) as { name: string }[])
    if (name !== stack) yield ["--stack", name];
}

/** The state of a stack as `pulumi stack export` prints it; `way` says which stack. */
export async function exportState(
  way: readonly string[],
  { program, timeoutMs }: Cli,
): Promise<ExportedState> {
  const args = ["stack", "export", "--non-interactive", ...way];
  const { stdout } = await run(program, args, { timeout: timeoutMs, maxBuffer: 2 ** 30 });
  return (JSON.parse(stdout) as { deployment?: ExportedState }).deployment ?? {};
}

async function exported(way: readonly string[], cli: Cli): Promise<StateEntry[]> {
  const { resources = [] } = await exportState(way, cli);
  return resources.flatMap(({ urn, type, id, outputs = {}, delete: isLeaving = false }) => {
    const definition = resourceTypeOf(type);
    return definition && id ? [{ ...stateEntryOf(definition, id, outputs), urn, isLeaving }] : [];
  });
}

/** What a stack holds. */
export interface ExportedState {
  readonly resources?: readonly ExportedEntry[];
  /** What the engine began and has not recorded the end of. */
  readonly pending_operations?: readonly { readonly type: string; readonly resource: ExportedEntry }[];
}

interface ExportedEntry {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  readonly delete?: boolean;
}

const commandOf = (way: readonly string[]) => `\`${["pulumi stack export", ...way].join(" ")}\``;

/** Whether the time limit ended a command. */
function hasTimedOut(error: unknown): boolean {
  const { killed, code } = error as { killed?: boolean; code?: unknown };
  return killed === true && code == null;
}

function reasonOf({ message, stderr }: Error & { stderr?: string }): string {
  return (stderr?.trim() || message).replace(/^error: /, "").split("\n", 1)[0] as string;
}
