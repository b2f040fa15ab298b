import { comparesOnlyVariable } from "../../provider/lifecycle/scopes";
import { type Policy, readPolicy } from "../policy/file";
import { staleModelWarnings } from "../retrain/stale-models";
import { OpenStack, selectedStack } from "../stack/open";
import { acceptFindings } from "./acceptance";
import { compareStacks } from "./compare";
import type { Report } from "./finding";
import { type AnnouncedReport, announce } from "./history/announcement";
import { compareWithEarlier, readEarlierReport } from "./history/findings-since";
import { assertWebhook } from "./history/webhook";

/** Options of a comparison by `recommender drift`. */
export interface DriftRequest {
  readonly cwd: string;
  /** Names of the stacks. Default: the selected stack. */
  readonly stack?: readonly string[];
  /** Earlier JSON report to compare with. */
  readonly since?: string;
  /** Address of a webhook for new and resolved findings. It is a secret. */
  readonly notify?: string;
}

/** Compares stacks, applies the policy of the project, and announces what is new. */
export async function reportDrift({ cwd, stack, since, notify }: DriftRequest): Promise<AnnouncedReport> {
  // Check the files and the address before the comparison, which takes a while.
  const policy = readPolicy(cwd);
  const earlier = since === undefined ? undefined : readEarlierReport(since);
  if (notify !== undefined) assertWebhook(notify);
  const names = new Set(stack ?? [await selectedStack(cwd)]);
  const env = { [comparesOnlyVariable]: "true" };
  const stacks = await Promise.all([...names].map((name) => OpenStack.open({ cwd, stack: name, env })));
  const now = new Date();
  const compared = await withStaleModels(await compareStacks(cwd, stacks), stacks, policy, now);
  const accepted = acceptFindings(compared, policy, now);
  const report = earlier ? compareWithEarlier(accepted, earlier, since ?? "") : accepted;
  return notify === undefined ? { report } : announce(report, notify, earlier);
}

/** Adds a warning for each live model that exceeds a limit of the policy. */
async function withStaleModels(
  report: Report,
  stacks: readonly OpenStack[],
  { retrain }: Policy,
  now: Date,
): Promise<Report> {
  const compared = report.stacks.map(async (stack, at) => {
    const stale = await staleModelWarnings(stacks[at] as OpenStack, retrain, now.getTime());
    return { ...stack, warnings: [...stack.warnings, ...stale] };
  });
  return { ...report, stacks: await Promise.all(compared) };
}
