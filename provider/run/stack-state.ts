import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { engineProcess } from "./engine-command";
import { isSame, type Properties, rowOf, type StackRow } from "./row";
import { nounOf } from "./urn";

/** What the stack of a run holds. */
export interface StackState {
  /** The rows of the stack that the given row belongs to. */
  rows(of: StackRow): Promise<readonly StackRow[]>;
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
  const rows: StackState["rows"] = async (of) => {
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
        if (rows.some((row) => isSame(row, of))) return rows;
        reasons.push(`${command} shows no ${of.type} ${of.id}`);
      } catch (error) {
        // The other ways go to the same backend, which would take as long again.
        if (wasCutOff(error)) {
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
  return { rows };
}

/**
 * Where a row may be: in the stack that it was created in, which the state keeps without its organisation; in the stack
 * that is selected; or in any other, as `pulumi state move` leaves the row's own idea of its stack as it was.
 */
async function* waysTo(stack: string | undefined, cli: Cli): AsyncGenerator<string[]> {
  if (stack) yield ["--stack", stack];
  yield [];
  const listed = run(cli.program, ["stack", "ls", "--json", "--non-interactive"], { timeout: cli.timeoutMs });
  const { stdout } = await listed.catch(() => ({ stdout: "[]" }));
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

async function exported(way: readonly string[], cli: Cli): Promise<StackRow[]> {
  const { resources = [] } = await exportState(way, cli);
  return resources.flatMap(({ urn, type, id, outputs = {}, delete: isLeaving = false }) => {
    const noun = nounOf(type);
    return noun && id ? [{ ...rowOf(noun, id, outputs), urn, isLeaving }] : [];
  });
}

/** What a stack holds. */
export interface ExportedState {
  readonly resources?: readonly ExportedRow[];
  /** What the engine began and has not recorded the end of. */
  readonly pending_operations?: readonly { readonly type: string; readonly resource: ExportedRow }[];
}

interface ExportedRow {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Properties;
  readonly outputs?: Properties;
  readonly delete?: boolean;
}

const commandOf = (way: readonly string[]) => `\`${["pulumi stack export", ...way].join(" ")}\``;

/** Whether the time limit ended a command. */
function wasCutOff(error: unknown): boolean {
  const { killed, code } = error as { killed?: boolean; code?: unknown };
  return killed === true && code == null;
}

function reasonOf({ message, stderr }: Error & { stderr?: string }): string {
  return (stderr?.trim() || message).replace(/^error: /, "").split("\n", 1)[0] as string;
}
