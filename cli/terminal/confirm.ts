import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { CommandError, exitCodes } from "./exit";
import { fitted } from "./layout";

/** Asks before something is done for good, unless `--yes` was given; throws where the answer is no. */
export async function confirm(asked: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new Error(`${asked} Standard input is not a terminal; confirm with --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const question = fitted(`${asked} [y/N]`, process.stderr);
  // Ctrl+D, or a terminal that goes away, is no answer.
  const unanswered = once(terminal, "close").then(() => "");
  const interrupted = once(terminal, "SIGINT").then(() => {
    throw new CommandError("\nNothing was done.", exitCodes.interrupted);
  });
  try {
    const answer = terminal.question(`${question} `).catch(() => "");
    if (/^y(es)?$/i.test((await Promise.race([answer, unanswered, interrupted])).trim())) return;
  } finally {
    terminal.close();
    process.stdin.unref();
  }
  throw new Error("Nothing was done.");
}
