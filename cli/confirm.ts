import { createInterface } from "node:readline/promises";
import { fitted } from "./layout";

/** Asks before something is lost for good, unless `--yes` was given; throws where the answer is no. */
export async function confirm(question: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) throw new Error(`${question} Nobody is there to ask; confirm with --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const asked = fitted(`${question} [y/N]`, process.stderr);
    if (/^y(es)?$/i.test((await terminal.question(`${asked} `)).trim())) return;
  } finally {
    terminal.close();
  }
  throw new Error("Nothing was deleted.");
}
