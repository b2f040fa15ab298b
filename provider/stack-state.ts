import { execFile } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";
import type { Properties } from "./arguments";

/** A row of a stack's state: a resource, and what it holds in the service. */
export interface StackRow {
  readonly urn: string;
  /** The noun: `EventDataset`. */
  readonly type: string;
  readonly id: string;
  /** Tells rows of one id apart: a replacement may have adopted what it replaces. */
  readonly token: string;
}

/** What the stack of a run holds. */
export interface StackState {
  /** The rows of the stack that the given row belongs to. */
  rows(of: StackRow): Promise<readonly StackRow[]>;
}

/** The row of a resource, as its lifecycle knows it. */
export function rowOf(type: string, id: string, { __urn, __made }: Properties): StackRow {
  const urn = typeof __urn === "string" ? __urn : "";
  return { urn, type, id, token: typeof __made === "string" ? __made : urn };
}

/** The state could not be read, so that it is not known who else holds a thing. */
export class StackStateError extends Error {
  override readonly name = "StackStateError";
}

/** Where the URN of a resource of this package has its noun. */
const typeToken = /^pulumi-nodejs:dynamic\/recommender:(\w+)$/;
const timeoutMs = 120_000;
const run = promisify(execFile);

/**
 * Asks the Pulumi CLI for the state: the engine tells a provider only of the resources that a run is about, and of each
 * only when its turn comes.
 */
export const cliStackState: StackState = {
  async rows(of) {
    const stack = /^urn:pulumi:(.+?)::/.exec(of.urn)?.[1];
    const reasons: string[] = [];
    for await (const way of waysTo(stack)) {
      try {
        const rows = await exported(way);
        if (rows.some((row) => isSame(row, of))) return rows;
        reasons.push(`${commandOf(way)} shows no ${of.type} ${of.id}`);
      } catch (error) {
        reasons.push(`${commandOf(way)}: ${reasonOf(error as Error & { stderr?: string })}`);
      }
    }
    throw new StackStateError(
      `cannot read the state of stack ${stack ?? "(unnamed)"}: ${reasons.join("; ")}. Put \`pulumi\` on PATH, select ` +
        "the stack with `pulumi stack select`, and run the same command again.",
    );
  },
};

/**
 * Where a row may be: in the stack that it was made in, which the state keeps without its organisation; in the stack
 * that is selected; or in any other, as `pulumi state move` leaves the row's own idea of its stack as it was.
 */
async function* waysTo(stack: string | undefined): AsyncGenerator<string[]> {
  if (stack) yield ["--stack", stack];
  yield [];
  const listed = run(engineProgram(), ["stack", "ls", "--json", "--non-interactive"], { timeout: timeoutMs });
  const { stdout } = await listed.catch(() => ({ stdout: "[]" }));
  for (const { name } of JSON.parse(stdout) as { name: string }[])
    if (name !== stack) yield ["--stack", name];
}

/** Whether two rows are one. */
export function isSame(a: StackRow, b: StackRow): boolean {
  return a.type === b.type && a.id === b.id && a.token === b.token;
}

async function exported(way: readonly string[]): Promise<StackRow[]> {
  const args = ["stack", "export", "--non-interactive", ...way];
  const { stdout } = await run(engineProgram(), args, { timeout: timeoutMs, maxBuffer: 2 ** 30 });
  const { deployment } = JSON.parse(stdout) as { deployment?: { resources?: readonly ExportedRow[] } };
  return (deployment?.resources ?? []).flatMap(({ urn, type, id, outputs = {} }) => {
    const noun = typeToken.exec(type)?.[1];
    return noun && id ? [{ ...rowOf(noun, id, outputs), urn }] : [];
  });
}

interface ExportedRow {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly outputs?: Properties;
}

const commandOf = (way: readonly string[]) => `\`${["pulumi stack export", ...way].join(" ")}\``;

function reasonOf({ message, stderr }: Error & { stderr?: string }): string {
  return (stderr?.trim() || message).replace(/^error: /, "").split("\n", 1)[0] as string;
}

/** The engine that this process works for, where that can be seen; a shell may stand in between. */
function engineProgram(): string {
  try {
    for (let pid = process.ppid; pid > 1; ) {
      const program = readlinkSync(`/proc/${pid}/exe`);
      if (/^pulumi(\.exe)?$/.test(basename(program))) return program;
      pid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    }
  } catch {
    // Only Linux has /proc, and a process of another user cannot be looked at.
  }
  return "pulumi";
}
