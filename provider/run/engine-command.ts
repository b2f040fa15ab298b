import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** The process of the engine that this process works for. */
interface EngineProcess {
  readonly pid: number;
  readonly program: string;
}

/** Finds the engine among the ancestors of this process; a shell may be in between. Only Linux has /proc. */
export function engineProcess(): EngineProcess | undefined {
  try {
    for (let pid = process.ppid; pid > 1; ) {
      const program = readlinkSync(`/proc/${pid}/exe`);
      if (/^pulumi(\.exe)?$/.test(basename(program))) return { pid, program };
      pid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    }
  } catch {
    // A process of another user cannot be looked at.
  }
  return undefined;
}

/** Whether the options `--replace` or `--target-replace` of a command name a resource, as its URN or as a pattern. */
export function namesForReplacement(command: readonly string[], urn: string): boolean {
  return command.some((word, at) => {
    const option = /^--(?:target-)?replace(?:=(?<given>.*))?$/s.exec(word);
    const pattern = option && (option.groups?.given ?? command[at + 1]);
    return pattern != null && patternOf(pattern).test(urn);
  });
}

/**
 * Whether the command that the engine runs names a resource for replacement. The engine checks such a resource as if it
 * were new, so nothing else tells a provider.
 */
export function isReplacedByCommand(urn: string | undefined): boolean {
  command ??= commandOfEngine();
  return urn !== undefined && namesForReplacement(command, urn);
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

/** A pattern of URNs as the engine reads it: `**` matches anything, `*` anything but a colon. */
function patternOf(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^:]*" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "s");
}
