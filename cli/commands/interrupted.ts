import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { Entry } from "../../provider/recovery/journal";
import { partsOf, titleOf } from "../../provider/run/urn";
import { confirm } from "../terminal/confirm";
import { type OutputOptions, print } from "../terminal/output";

const help = `
Each call that creates something enters the recovery journal of this machine
before it is sent, and leaves it when the state of its stack holds the result.
What is listed was begun by a run that was killed, or is under way. The next
\`pulumi up\` of the stack resumes it; if the program no longer declares the
resource, it is orphaned.

Examples:
  recommender interrupted
  recommender interrupted --forget`;

interface Listed {
  readonly entry: Entry;
  /** Whether the process that made the call may live; it ends some seconds after its engine. */
  readonly running: boolean;
}

interface InterruptedOptions extends OutputOptions {
  readonly forget?: true;
  readonly yes?: true;
}

/** Adds `recommender interrupted`. */
export function addInterrupted(program: Command): void {
  program
    .command("interrupted")
    .description("List unfinished creates of killed runs.")
    .option("--forget", "forget all of it but calls under way: the next `pulumi up` creates it again")
    .option("--yes", "do not ask")
    .option("--json", "print the outcome as one line of JSON")
    .addHelpText("after", help)
    .action(interrupted);
}

async function interrupted(options: InterruptedOptions): Promise<void> {
  const { allEntries, forget, mayBeRunning, unreadableFiles } = await import(
    "../../provider/recovery/journal.js"
  );
  const entries = allEntries()
    .sort((a, b) => a.at.localeCompare(b.at))
    .map((entry) => ({ entry, running: mayBeRunning(entry) }));
  const listed = entries.map(({ entry, running }) => {
    const { urn, backend = null, path, at, id = null } = entry;
    return { urn, backend, service: addressOf(entry) ?? null, path, at, running, id };
  });
  const unreadable = unreadableFiles();
  const over = entries.filter(({ running }) => !running);
  const count = over.length + unreadable.length;
  if (options.forget && count > 0) {
    await confirm(`Forget ${count}? The next \`pulumi up\` creates them again.`, options.yes);
  }
  print(options, { interrupted: listed, unreadable }, () =>
    entries.length + unreadable.length === 0
      ? "Nothing was interrupted.\n"
      : [
          ...entries.map((one) => described(one, options.forget === true)),
          ...unreadable.map((file) => `Cannot be read: ${file}\n`),
        ].join("\n"),
  );
  if (!options.forget) return;
  for (const { entry } of over) await forget(entry);
  for (const file of unreadable) await rm(file, { force: true, recursive: true });
}

/** The address of a service; undefined if it is secret, or if an older version wrote only a digest of it. */
function addressOf({ address, service }: Entry): string | undefined {
  return address ?? (/^[0-9a-f]{32}$/.test(service) ? undefined : service);
}

function described({ entry, running }: Listed, isForgetting: boolean): string {
  const { urn, backend, path, at, id, pid, host } = entry;
  const { stack, ...resource } = partsOf(urn);
  const kept = isForgetting ? "; not forgotten" : "";
  return [
    `${titleOf(resource)} of stack ${stack}, ${at.slice(0, 19)}Z`,
    `  ${id ? `created ${id}` : "may have been created: no response arrived"}`,
    ...(running ? [`  process ${pid} on ${host}, which made the call, may still run${kept}`] : []),
    `  POST ${path}`,
    `  at ${addressOf(entry) ?? "an address that is not recorded"}`,
    ...(backend ? [`  backend ${backend}`] : []),
    "",
  ].join("\n");
}
