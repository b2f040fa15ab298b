import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { CommandError, exitCodes } from "./exit";
import { wrapLines } from "./layout";

/** Asks for confirmation, unless `--yes` was given. Throws if the answer is not yes. */
export async function confirm(question: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new Error(`${question} Standard input is not a terminal; confirm with --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const prompt = wrapLines(`${question} [y/N]`, process.stderr);
  // Ctrl+D and a closed terminal count as no.
  const closed = once(terminal, "close").then(() => "");
  const interrupted = once(terminal, "SIGINT").then(() => {
    throw new CommandError("\nNothing was done.", exitCodes.interrupted);
  });
  try {
    const answer = terminal.question(`${prompt} `).catch(() => "");
    if (/^y(es)?$/i.test((await Promise.race([answer, closed, interrupted])).trim())) return;
  } finally {
    terminal.close();
    process.stdin.unref();
  }
  throw new Error("Nothing was done.");
}
