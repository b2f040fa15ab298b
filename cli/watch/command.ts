import { readPolicy } from "../policy/file";
import { stageOf } from "../policy/gates";
import { servedModels, servesSameModels } from "../release/contents";
import { type Release, ReleaseFile } from "../release/history";
import { releaseFlags, shellQuote } from "../stack/flags";
import { OpenStack } from "../stack/open";
import { newWatch, watchPolicyOf, watchRelease } from "./watch";

/** Options of `recommender watch`. */
interface WatchCommand {
  readonly cwd: string;
  readonly stack: string;
  readonly releases: string;
  /** How long to watch. Default: as the policy says. An unfinished watch keeps its duration. */
  readonly forMs?: number;
  readonly json?: true | undefined;
  readonly log: (message: string) => void;
}

/** Continues the unfinished watch of a stack, or begins to watch its newest release. */
export async function watchStack({ cwd, stack, releases, forMs, json, log }: WatchCommand): Promise<Release> {
  const stage = stageOf(readPolicy(cwd), stack);
  const open = await OpenStack.open({ cwd, stack });
  const file = await ReleaseFile.open(releases, { project: open.project, stack });
  const { watched, interrupted, latest } = file;
  const request = { open, releases, json, log };
  if (watched) {
    log(`Continuing the watch of ${watched.id} …`);
    const policy = watchPolicyOf(stage, watched.watch?.forMs);
    if (policy) return watchRelease({ ...request, entry: watched, policy });
  }
  if (interrupted)
    throw new Error(
      `${interrupted.id} (${interrupted.action}) has not ended. Complete it first: run the command that started it once more.`,
    );
  const policy = watchPolicyOf(stage, forMs);
  if (!policy)
    throw new Error(`The policy does not say how to watch ${stack}. Pass --for, such as --for 30m.`);
  if (!latest?.contents) {
    const command = `recommender release ${shellQuote(stack)}${releaseFlags(cwd, releases)}`;
    throw new Error(`${stack} has no release to watch. Write one with \`${command}\`.`);
  }
  const { resources } = await open.state();
  if (!servesSameModels(servedModels(resources), latest.contents.deployments)) {
    const command = `recommender release ${shellQuote(stack)}${releaseFlags(cwd, releases)}`;
    throw new Error(`${stack} does not run ${latest.id}, its newest release. Write one with \`${command}\`.`);
  }
  // Without measurements from before the switch, only the limits of errors, empty answers and latency apply.
  const entry: Release = { ...latest, watch: newWatch(policy, latest.watch?.before) };
  await file.put(entry);
  return watchRelease({ ...request, entry, policy });
}
