import { compareStack } from "../drift/compare";
import { readAuthor } from "../stack/author";
import { cwdFlag, releaseFlags } from "../stack/flags";
import type { OpenStack } from "../stack/open";
import { readProgramState, versionsOf } from "../stack/program";
import { runChecks, withChecks } from "./checks";
import { readContents } from "./contents";
import type { Evidence } from "./gate";
import type { Release } from "./history";

/** Gathers the facts that decide whether a stack can be released or promoted. */
export async function gatherEvidence(open: OpenStack, releases: string): Promise<Evidence> {
  const { readPinned, pinnedModelsKey } = await import("../../provider/run/pinned.js");
  const { cwd } = open.location;
  const [{ resources }, config] = await Promise.all([open.state(), open.config()]);
  const [report, checks, program] = await Promise.all([
    compareStack(open),
    runChecks(open, resources),
    readProgramState(cwd, releases),
  ]);
  const contents = withChecks(readContents(resources), checks);
  const pinned = readPinned(config(pinnedModelsKey));
  const where = { project: cwdFlag(cwd), releases: releaseFlags(cwd, releases) };
  return { stack: open.name, report, contents, program, pinned, where };
}

/** Returns the fields that a history entry has from its start: the time, the author, the program and the versions. */
export async function startEntry(
  open: OpenStack,
  { commit, changed }: Evidence["program"],
): Promise<Pick<Release, "beganAt" | "author" | "program" | "versions">> {
  const author = await readAuthor(open.location.cwd, open.environment);
  return {
    beganAt: new Date().toISOString(),
    ...(author !== undefined && { author }),
    program: { commit, dirty: changed.length > 0 },
    versions: versionsOf(open.location.cwd, open.engineVersion),
  };
}
