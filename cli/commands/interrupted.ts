import { rm } from "node:fs/promises";
import type { Command } from "commander";
import type { JournalEntry } from "../../provider/recovery/journal";
import { partsOf, titleOf } from "../../provider/run/urn";
import { confirm } from "../terminal/confirm";
import { formatCount, type OutputOptions, print } from "../terminal/output";

const help = `
Lists the recovery journal of this machine. Each create call is recorded before
it is sent, until the stack state contains the result. An entry belongs to a
killed run, or to a call that is running. The next \`pulumi up\` of the stack
resumes it. If the program no longer declares the resource, it is orphaned.

Examples:
  recommender interrupted
  recommender interrupted --forget`;

interface Listed {
  readonly entry: JournalEntry;
  /** Whether the process that sent the call may still be running. The process ends some seconds after its engine. */
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
    .option("--forget", "delete all entries except running calls; the next `pulumi up` creates again")
    .option("--yes", "skip the confirmation")
    .option("--json", "print the result as one line of JSON")
    .addHelpText("after", help)
    .action(interrupted);
}

async function interrupted(options: InterruptedOptions): Promise<void> {
  const { allEntries, erase: forget, unreadableFiles } = await import("../../provider/recovery/journal.js");
  const { mayBeRunning } = await import("../../provider/recovery/entry-writer.js");
  const entries = allEntries()
    .sort((a, b) => a.at.localeCompare(b.at))
    .map((entry) => ({ entry, running: mayBeRunning(entry) }));
  const listed = entries.map(({ entry, running }) => {
    const { urn, backend = null, path, at, id = null } = entry;
    return { urn, backend, service: addressOf(entry) ?? null, path, at, running, id };
  });
  const unreadable = unreadableFiles();
  const ended = entries.filter(({ running }) => !running);
  const count = ended.length + unreadable.length;
  if (options.forget && count > 0) {
    await confirm(
      `Forget ${formatCount(count, "create")}? Then \`pulumi up\` creates the objects again.`,
      options.yes,
    );
  }
  print(options, { interrupted: listed, unreadable }, () =>
    entries.length + unreadable.length === 0
      ? "There are no interrupted creates.\n"
      : [
          ...entries.map((one) => describe(one, options.forget === true)),
          ...unreadable.map((file) => `Cannot read ${file}\n`),
        ].join("\n"),
  );
  if (!options.forget) return;
  for (const { entry } of ended) await forget(entry);
  for (const file of unreadable) await rm(file, { force: true, recursive: true });
}

/** Returns the service's address, or undefined if it is secret or an older version stored only a digest. */
function addressOf({ address, service }: JournalEntry): string | undefined {
  return address ?? (/^[0-9a-f]{32}$/.test(service) ? undefined : service);
}

function describe({ entry, running }: Listed, isForgetting: boolean): string {
  const { urn, backend, path, at, id, pid, host } = entry;
  const { stack, ...resource } = partsOf(urn);
  const note = isForgetting ? ", so this is not forgotten" : "";
  return [
    `${titleOf(resource)} of stack ${stack}, ${at.slice(0, 19)}Z`,
    `  ${id ? `created ${id}` : "may have been created; no response arrived"}`,
    ...(running ? [`  process ${pid} on ${host} may still be running${note}`] : []),
    `  POST ${path}`,
    `  to ${addressOf(entry) ?? "an unknown address"}`,
    ...(backend ? [`  backend ${backend}`] : []),
    "",
  ].join("\n");
}
