import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { escapeRegExp } from "../../client/parse";

/** Process of the engine. */
interface EngineProcess {
  readonly pid: number;
  readonly program: string;
}

/**
 * Finds the engine among the ancestors of this process, which may include shells. Works only on Linux, which has /proc.
 */
export function engineProcess(): EngineProcess | undefined {
  try {
    for (let pid = process.ppid; pid > 1; ) {
      const program = readlinkSync(`/proc/${pid}/exe`);
      if (/^pulumi(\.exe)?$/.test(basename(program))) return { pid, program };
      pid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    }
  } catch {
    // /proc hides the processes of other users.
  }
  return undefined;
}

/** Whether `--replace` or `--target-replace` in a command matches a resource, by URN or pattern. */
export function namesForReplacement(command: readonly string[], urn: string): boolean {
  return command.some((word, at) => {
    const option = /^--(?:target-)?replace(?:=(?<given>.*))?$/s.exec(word);
    const pattern = option && (option.groups?.given ?? command[at + 1]);
    return pattern != null && patternOf(pattern).test(urn);
  });
}

/**
 * Whether the user replaces a resource with `--replace`. The engine checks such a resource as if it were new, so only
 * the command line shows the replacement.
 */
export function isReplacedByCommand(urn: string | undefined): boolean {
  command ??= commandOfEngine();
  return urn !== undefined && namesForReplacement(command, urn);
}

/**
 * Whether this run saves or follows a plan. A plan contains the arguments that `check` returns, and another machine may
 * follow it, so the arguments must not depend on the machine.
 */
export function usesPlan(): boolean {
  command ??= commandOfEngine();
  return command.some((word) => /^--(?:save-)?plan(?:=|$)/.test(word));
}

let command: readonly string[] | undefined;

function commandOfEngine(): readonly string[] {
  const engine = engineProcess();
  try {
    return engine ? readFileSync(`/proc/${engine.pid}/cmdline`, "utf8").split("\0") : [];
  } catch {
    return [];
  }
}

/** Compiles a URN pattern of the engine: `**` matches anything, `*` anything except a colon. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^:]*" : escapeRegExp(part);
  });
  return new RegExp(`^${parts.join("")}$`, "s");
}
