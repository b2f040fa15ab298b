import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { engineProcess } from "./engine-command";
import { sharedPromise } from "./promises";
import { isSameEntry, type Properties, type StateEntry, stateEntryOf, unpackUrn } from "./state-entry";
import { canonicalUrn, partsOf, resourceTypeOf, stackIdOf } from "./urn";

/** State of the stacks in a backend. */
export interface StackState {
  /** Returns the entries of the stack that contains the given entry. */
  entries(of: StateEntry): Promise<readonly StateEntry[]>;
  /**
   * Returns the entries of a resource that earlier runs stored, including replaced ones. Empty if the state is
   * unreadable.
   */
  entriesNamed(urn: string): Promise<readonly StateEntry[]>;
  /**
   * Returns the entries of all stacks, including this one. `limitMs` is the time after which no more states are read.
   */
  allStacks(limitMs?: number): Promise<BackendEntries>;
  /** Returns the stacks as `project/stack`, or undefined if they cannot be listed. */
  stacks(project: string): Promise<ReadonlySet<string> | undefined>;
}

/** Entries of all stacks whose state can be read. */
export interface BackendEntries {
  readonly entries: readonly StateEntry[];
  /** Lineage of each stack that has one (see `lineageIn`), by `project/stack`. */
  readonly lineages: ReadonlyMap<string, string>;
  /** Stacks with unreadable state. */
  readonly unread: readonly string[];
}

/** Error if the state cannot be read, so it is unknown which entries reference an object. */
export class StackStateError extends Error {
  override readonly name = "StackStateError";
}

const run = promisify(execFile);

/** Command and time limit of the Pulumi CLI. */
export interface Cli {
  readonly program: string;
  /** Time limit of one command. */
  readonly timeoutMs: number;
}

/** Returns the Pulumi CLI of the engine that started this process. */
export function pulumiCli(given: Partial<Cli> = {}): Cli {
  return { program: engineProcess()?.program ?? "pulumi", timeoutMs: 120_000, ...given };
}

/**
 * Reads the state with the Pulumi CLI. The engine passes a provider only the resources of the current step, never the
 * other entries of the state.
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
        const found = await exported(way, cli);
        if (found.some((entry) => isSameEntry(entry, of))) return found;
        reasons.push(`${command} shows no ${of.type} ${of.id}`);
      } catch (error) {
        // The other stacks are in the same backend, so they would time out too.
        if (hasTimedOut(error)) {
          throw unreadable(
            `${command} took longer than ${cli.timeoutMs / 1000} s`,
            `Run ${command} yourself to see the cause: the network, the backend or an expired login`,
          );
        }
        reasons.push(`${command}: ${reasonOf(error as Error & { stderr?: string })}`);
      }
    }
    throw unreadable(reasons.join("; "), "Put `pulumi` on PATH, select the stack with `pulumi stack select`");
  };
  // Read once, because the entries of earlier runs do not change.
  const before = new Map<string, Promise<StateEntry[]>>();
  const entriesNamed: StackState["entriesNamed"] = async (urn) => {
    const { stack } = partsOf(urn);
    const all = await sharedPromise(before, stack, () => exported(["--stack", stack], cli).catch(() => []));
    return all.filter((entry) => canonicalUrn(entry.urn) === canonicalUrn(urn));
  };
  return {
    entries,
    entriesNamed,
    allStacks: (timeoutMs = cli.timeoutMs) => readAllStacks({ ...cli, timeoutMs }),
    stacks: (project) => stacks(project, cli),
  };
}

/** Number of states that are read concurrently. */
const readersAtOnce = 4;

async function readAllStacks(cli: Cli): Promise<BackendEntries> {
  const names = await listed(cli, "--all");
  const lineages = new Map<string, string>();
  if (!names) return { entries: [], lineages, unread: ["all stacks"] };
  const [entries, unread]: [StateEntry[], string[]] = [[], []];
  const until = Date.now() + cli.timeoutMs;
  const open = [...names];
  const read = async () => {
    for (let name = open.shift(); name !== undefined; name = open.shift()) {
      const timeoutMs = until - Date.now();
      const state =
        timeoutMs > 0
          ? await exportState(["--stack", name], { ...cli, timeoutMs }).catch(() => {})
          : undefined;
      if (!state) {
        unread.push(name);
        continue;
      }
      entries.push(...entriesIn(state));
      const root = rootOf(state);
      if (root?.created) lineages.set(stackIdOf(root.urn), root.created);
    }
  };
  await Promise.all(Array.from({ length: readersAtOnce }, read));
  return { entries, lineages, unread };
}

async function stacks(current: string, cli: Cli): Promise<ReadonlySet<string> | undefined> {
  const names = await listed(cli, "--all");
  // The stacks of the current project are listed without its name.
  const qualified = (name: string) => {
    const parts = name.split("/");
    return `${parts.length > 2 ? parts.at(-2) : current}/${parts.at(-1)}`;
  };
  return names && new Set(names.map(qualified));
}

async function listed({ program, timeoutMs }: Cli, ...scope: string[]): Promise<string[] | undefined> {
  try {
    const args = ["stack", "ls", ...scope, "--json", "--non-interactive"];
    const { stdout } = await run(program, args, { timeout: timeoutMs, maxBuffer: 2 ** 30 });
    return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/**
 * Yields the CLI options that select the stacks that may contain an entry. First comes the stack in its URN, whose name
 * lacks the organisation, then the selected stack. All other stacks of the project follow, because `pulumi state move`
 * keeps the old stack in the properties.
 */
export async function* waysTo(stack: string | undefined, cli: Cli): AsyncGenerator<string[]> {
  if (stack) yield ["--stack", stack];
  yield [];
  for (const name of (await listed(cli)) ?? []) if (name !== stack) yield ["--stack", name];
}

/** Returns the state that `pulumi stack export` prints. `way` contains the options that select the stack. */
export async function exportState(
  way: readonly string[],
  { program, timeoutMs }: Cli,
): Promise<ExportedState> {
  const args = ["stack", "export", "--non-interactive", ...way];
  const { stdout } = await run(program, args, { timeout: timeoutMs, maxBuffer: 2 ** 30 });
  return (JSON.parse(stdout) as { deployment?: ExportedState }).deployment ?? {};
}

async function exported(way: readonly string[], cli: Cli): Promise<StateEntry[]> {
  return entriesIn(await exportState(way, cli));
}

function entriesIn({ resources = [] }: ExportedState): StateEntry[] {
  return resources.flatMap(
    ({ urn, type, id, outputs = {}, delete: isPendingDelete = false }): StateEntry[] => {
      const resourceType = resourceTypeOf(type);
      if (!resourceType || !id) return [];
      const replaced = isPendingDelete && { replacedState: { ...unpackUrn(outputs), __urn: urn } };
      return [{ ...stateEntryOf(resourceType, id, outputs), urn, isPendingDelete, ...replaced }];
    },
  );
}

/**
 * Returns the lineage of a stack: the time at which the engine created its root resource, in nanoseconds. The lineage
 * survives `pulumi stack rename` and a change of the secrets provider. A new stack with the same name has a different
 * lineage.
 */
export function lineageIn(state: ExportedState): string | undefined {
  return rootOf(state)?.created;
}

function rootOf({ resources = [] }: ExportedState): ExportedEntry | undefined {
  return resources.find(({ type, delete: isPendingDelete }) => type === rootType && !isPendingDelete);
}

const rootType = "pulumi:pulumi:Stack";

/** State of a stack, as exported. */
export interface ExportedState {
  readonly resources?: readonly ExportedEntry[];
  /** Operations that the engine has started and not finished. */
  readonly pending_operations?: readonly { readonly type: string; readonly resource: ExportedEntry }[];
}

interface ExportedEntry {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  /** URN and id of the provider. */
  readonly provider?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  readonly delete?: boolean;
  readonly created?: string;
}

const commandOf = (way: readonly string[]) => `\`${["pulumi stack export", ...way].join(" ")}\``;

/** Whether a command was killed because it exceeded its time limit. */
function hasTimedOut(error: unknown): boolean {
  const { killed, code } = error as { killed?: boolean; code?: unknown };
  return killed === true && code == null;
}

function reasonOf({ message, stderr }: Error & { stderr?: string }): string {
  return (stderr?.trim() || message).replace(/^error: /, "").split("\n", 1)[0] as string;
}
