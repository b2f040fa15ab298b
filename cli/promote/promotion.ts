import { pinnedModelsKey, pinnedModelsVariable, readPinned } from "../../provider/run/pinned";
import { logicalName } from "../../provider/run/urn";
import { compareStack } from "../drift/compare";
import type { StackReport } from "../drift/finding";
import { readPolicy } from "../policy/file";
import { stageOf } from "../policy/gates";
import { type Override, recordedGates, reviewGates } from "../policy/promotion-gates";
import { readContents, resourcesOf, servedModels } from "../release/contents";
import { gatherEvidence, startEntry } from "../release/evidence";
import { type Blocker, type BlockerCode, promotionBlockers, sameContents, shortList } from "../release/gate";
import { type Release, ReleaseFile } from "../release/history";
import { releaseFlags, shellQuote } from "../stack/flags";
import { OpenStack, type StateResource } from "../stack/open";
import { programDifference, readProgramState } from "../stack/program";
import { durationText } from "../terminal/option-values";
import { measureBefore, newWatch, watchPolicyOf, watchRelease } from "../watch/watch";
import { applyChange } from "./apply";
import { type LockPolicy, withStaleLockRemoved } from "./lock";
import {
  type Baseline,
  baselines,
  compareQuality,
  defaultRatio,
  qualityFloors,
  withRecordedQuality,
} from "./quality";
import type { Review } from "./review";

/** Options of a promotion. */
export interface PromotionRequest {
  readonly cwd: string;
  readonly from: string;
  readonly to: string;
  /** Directory of the release histories. */
  readonly releases: string;
  readonly allow: readonly BlockerCode[];
  /** Share of the best baseline's quality that a model must reach. */
  readonly minQualityRatio: number;
  readonly against: readonly Baseline[];
  /** Closed gates to override, and why. */
  readonly override?: Override | undefined;
  /** How long to watch after the switch. Default: as the policy says. */
  readonly watchMs?: number;
  readonly json?: true | undefined;
  /** Whether to apply the promotion. Otherwise it is only reviewed. */
  readonly yes: boolean;
  readonly log: (message: string) => void;
}

/** Reviews a promotion, and applies it if `yes` is set and nothing blocks it. */
export async function promote(request: PromotionRequest): Promise<Review> {
  // Check the policy first: if it is broken, the promotion must stop, and the comparison takes a while.
  readPolicy(request.cwd);
  const stacks = await openStacks(request);
  const watched = request.yes ? await continueWatch(stacks, request) : undefined;
  if (watched) return watched;
  const plan = await planPromotion(stacks, request);
  if (plan.review.verdict !== "ready" || !request.yes) return plan.review;
  const { to, file, resumed, evidence, lockPolicy, review, gates } = plan;
  const begun: Omit<Release, "id"> = {
    action: "promote",
    status: "running",
    ...(await startEntry(to, evidence.program)),
    ...(resumed && { beganAt: resumed.beganAt }),
    from: { stack: request.from, release: review.source?.id ?? "none" },
    ...(review.reasons.length > 0 && { allowed: review.reasons.map(({ code }) => code) }),
    ...(gates.gates.length > 0 && { gates: recordedGates(gates) }),
    before: [...review.before],
    minQuality: await qualityFloors(to, review.quality, gates.minQuality),
  };
  const watch = resumed?.watch ?? (plan.watch && newWatch(plan.watch, await measureBefore(to, plan.watch)));
  if (watch) begun.watch = watch;
  const entry = resumed ? { ...begun, id: resumed.id } : await file.add(begun);
  const stopped = await stopIfClosed(plan, entry, request);
  if (stopped) return stopped;
  request.log(resumed ? `Resuming ${entry.id} …` : `Applying to ${to.name} as ${entry.id} …`);
  const refresh = (review.report?.drift.length ?? 0) > 0;
  const applied = await applyChange({ open: to, file, entry, lockPolicy, refresh, pinned: {} });
  const release = await watchIfNeeded(applied, to, request);
  const now = release.contents && { now: release.contents };
  return {
    ...review,
    verdict: release.status === "done" ? "done" : "failed",
    quality: compareQuality(evidence.contents, review.before, { ...ratioOf(request), ...now }),
    release,
  };
}

/** Watches what a promotion has deployed, if it must be watched. */
async function watchIfNeeded(
  applied: Release,
  to: OpenStack,
  { releases, json, log }: PromotionRequest,
): Promise<Release> {
  if (applied.status !== "done" || !applied.watch) return applied;
  const policy = watchPolicyOf(stageOf(readPolicy(to.location.cwd), to.name), applied.watch.forMs);
  return policy ? watchRelease({ open: to, releases, entry: applied, policy, json, log }) : applied;
}

/** Continues the watch of the same promotion, if it was interrupted. The models are live, so nothing is compared. */
async function continueWatch(
  { to, source, file }: Stacks,
  request: PromotionRequest,
): Promise<Review | undefined> {
  const { watched } = file;
  if (!watched) return undefined;
  if (watched.action !== "promote" || watched.from?.release !== source?.id)
    throw new Error(
      `${watched.id} of ${to.name} is still watched. Continue with ` +
        `\`recommender watch ${shellQuote(to.name)}${releaseFlags(request.cwd, request.releases)}\`.`,
    );
  request.log(`Continuing the watch of ${watched.id} …`);
  const release = await watchIfNeeded(watched, to, request);
  return {
    verdict: release.status === "done" ? "done" : "failed",
    project: to.project,
    from: request.from,
    to: request.to,
    program: await readProgramState(request.cwd, request.releases),
    reasons: [],
    gates: [],
    quality: [],
    before: release.before ?? [],
    lost: [],
    unpinned: [],
    ...(source && { source }),
    resumed: release.id,
    release,
    command: promoteCommand(request),
  };
}

/**
 * Evaluates the gates again just before the first change. Since the review, a window may have closed, and another
 * promotion may have changed FROM. Other promotions to TO fail in `ReleaseFile.add`.
 */
async function stopIfClosed(
  { from, to, evidence, file, review, resumed }: Awaited<ReturnType<typeof planPromotion>>,
  entry: Release,
  { releases, override }: PromotionRequest,
): Promise<Review | undefined> {
  const fromFile = await ReleaseFile.open(releases, { project: from.project, stack: from.name });
  const { program, contents } = evidence;
  const gates = await reviewGates({ from, to, fromFile, toFile: file, program, contents, override });
  const isReplaced = fromFile.latest?.id !== review.source?.id;
  if (gates.isOpen && !isReplaced) return undefined;
  const closed = gates.gates.find(({ isOpen, overridden }) => !isOpen && overridden === undefined);
  const reason = isReplaced
    ? `${from.name} has a newer release than the one that was reviewed`
    : `the gate ${closed?.gate} closed during the review: ${closed?.words}`;
  // An interrupted promotion stays resumable: it may already have changed TO.
  if (resumed) throw new Error(`${resumed.id} is not resumed: ${reason}. Review the promotion again.`);
  const ended = { status: "failed", reason, endedAt: new Date().toISOString() } as const;
  const release: Release = { ...entry, ...ended, gates: recordedGates(gates) };
  await file.put(release);
  return { ...review, verdict: "failed", gates: gates.gates, release };
}

/** Compares both stacks. Changes nothing. */
async function planPromotion(stacks: Stacks, request: PromotionRequest) {
  const { cwd, releases, log, allow, override } = request;
  const { from, to, source, fromFile, file, resumed } = stacks;
  const lockPolicy: LockPolicy = { wait: resumed !== undefined, log };
  log(`Comparing ${from.name} and ${to.name} …`);
  const { resources } = await to.state();
  const unpinnedTo = await to.withEnvironment({ [pinnedModelsVariable]: "{}" });
  const [evidence, report, config] = await Promise.all([
    gatherEvidence(from, releases),
    // Compare as if no models were pinned, because a promotion ends a rollback.
    withStaleLockRemoved(to, lockPolicy, () => compareStack(unpinnedTo)),
    to.config(),
  ]);
  const { program } = evidence;
  const difference = await differenceFromRelease(source?.program.commit, program.commit, { cwd, releases });
  const watch = watchPolicyOf(stageOf(readPolicy(cwd), to.name), request.watchMs);
  const lost = modelsToDelete(report, resources);
  const found = promotionBlockers(evidence, source, difference);
  const blockers = watch && lost.length > 0 ? [...found, retainBlocker(lost)] : found;
  const reasons = blockers.map((reason) => ({ ...reason, allowed: allow.includes(reason.code) }));
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const unpinned = Object.keys(readPinned(config(pinnedModelsKey)));
  const isUpToDate =
    !file.interrupted &&
    report.changes.length + report.drift.length + unpinned.length === 0 &&
    isPromoted(source, file, resources);
  const { contents } = evidence;
  const gates = await reviewGates({ from, to, fromFile, toFile: file, program, contents, override });
  const isBlocked = reasons.some(({ allowed }) => !allowed);
  const mayStart = gates.isOpen ? "ready" : "refused";
  const review: Review = {
    verdict: isBlocked ? "refused" : isUpToDate ? "nothing to do" : mayStart,
    project: to.project,
    from: from.name,
    to: to.name,
    program,
    reasons,
    gates: gates.gates,
    ...(gates.opensAt !== undefined && { gatesOpenAt: gates.opensAt }),
    report,
    before,
    unpinned,
    ...(difference && { difference }),
    ...(source && { source }),
    ...(resumed && { resumed: resumed.id }),
    quality: compareQuality(evidence.contents, before, ratioOf(request)),
    lost,
    ...(watch && { watch: watch.for.text }),
    command: promoteCommand(request),
  };
  return { review, from, to, file, evidence, lockPolicy, resumed, gates, watch };
}

type Stacks = Awaited<ReturnType<typeof openStacks>>;

/** Opens both stacks with their histories, and finds an interrupted promotion of the same release. */
async function openStacks({ cwd, releases, ...names }: PromotionRequest) {
  if (names.from === names.to)
    throw new Error(`Cannot promote ${names.from} to itself. Choose another target stack.`);
  const from = await OpenStack.open({ cwd, stack: names.from });
  const to = await OpenStack.open({ cwd, stack: names.to });
  const fromFile = await ReleaseFile.open(releases, { project: from.project, stack: from.name });
  const { latest: source } = fromFile;
  const file = await ReleaseFile.open(releases, { project: to.project, stack: to.name });
  const { interrupted } = file;
  const isSame = interrupted?.action === "promote" && interrupted.from?.release === source?.id;
  return { from, to, source, fromFile, file, resumed: isSame ? interrupted : undefined };
}

/** Compares the released program with the checked-out one, if both commits are known and differ. */
async function differenceFromRelease(
  released: string | null | undefined,
  checkedOut: string | null,
  places: Pick<PromotionRequest, "cwd" | "releases">,
) {
  if (!released || !checkedOut || released === checkedOut) return undefined;
  return programDifference(released, { ...places, to: checkedOut });
}

/** Whether the stack still has the contents that an earlier promotion of the release deployed. */
function isPromoted(
  source: Release | undefined,
  { releases }: ReleaseFile,
  resources: readonly StateResource[],
): boolean {
  const current = readContents(resources);
  return releases.some(
    ({ status, from, contents }) =>
      status === "done" && from?.release === source?.id && contents && sameContents(contents, current),
  );
}

/** Returns the names of models that the promotion replaces and deletes. */
function modelsToDelete({ changes }: StackReport, resources: readonly StateResource[]): string[] {
  const replaced = changes.filter(({ kind }) => kind === "replaced").map(({ resource }) => resource.urn);
  return resourcesOf(resources, "Model")
    .filter(({ urn, retainOnDelete }) => !retainOnDelete && replaced.includes(urn))
    .map(({ urn }) => logicalName(urn));
}

/** A watch could not roll back to models that the promotion deletes. */
function retainBlocker(lost: readonly string[]): Blocker {
  const words = `the current model of ${shortList(lost)} would be deleted, so the watch could not roll back to it`;
  return { code: "retain", words, fix: "set `retainOnDelete` on the Model" };
}

/** Returns the command that applies the reviewed promotion. */
function promoteCommand(request: PromotionRequest): string {
  const { from, to, cwd, releases, allow, override, minQualityRatio, against, watchMs } = request;
  const options = [
    ...allow.map((code) => `--allow ${code}`),
    ...(override?.gates ?? []).map((gate) => `--override ${gate}`),
    ...(override ? [`--reason ${shellQuote(override.reason)}`] : []),
    ...(minQualityRatio === defaultRatio ? [] : [`--min-quality-ratio ${minQualityRatio}`]),
    ...(watchMs === undefined ? [] : [`--watch ${durationText(watchMs)}`]),
    ...(against.length === baselines.length ? [] : [`--against ${against.join(" ")}`]),
    "--yes",
  ];
  return `recommender promote ${shellQuote(from)} ${shellQuote(to)}${releaseFlags(cwd, releases)} ${options.join(" ")}`;
}

function ratioOf({ minQualityRatio, against }: PromotionRequest) {
  return { ratio: minQualityRatio, against };
}
