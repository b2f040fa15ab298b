import { readSettings } from "../../client/settings";
import { pinnedModelsKey, pinnedModelsVariable, readPinned } from "../../provider/run/pinned";
import { logicalName } from "../../provider/run/urn";
import { compareStack } from "../drift/compare";
import type { StackReport } from "../drift/finding";
import { readContents, resourcesOf, servedModels } from "../release/contents";
import { gatherEvidence, startEntry } from "../release/evidence";
import { type BlockerCode, promotionBlockers, sameContents } from "../release/gate";
import { type Quality, type Release, ReleaseFile, type Served } from "../release/history";
import { releaseFlags, shellQuote } from "../stack/flags";
import { OpenStack, type StateResource } from "../stack/open";
import { programDifference } from "../stack/program";
import { applyChange } from "./apply";
import { type LockPolicy, withStaleLockRemoved } from "./lock";
import { type Baseline, baselines, compareQuality, defaultRatio, floorsOf } from "./quality";
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
  /** Whether to apply the promotion. Otherwise it is only reviewed. */
  readonly yes: boolean;
  readonly log: (message: string) => void;
}

/** Reviews a promotion, and applies it if `yes` is set and nothing blocks it. */
export async function promote(request: PromotionRequest): Promise<Review> {
  const plan = await planPromotion(request);
  if (plan.review.verdict !== "ready" || !request.yes) return plan.review;
  const { to, file, resumed, evidence, lockPolicy, review } = plan;
  const begun: Omit<Release, "id"> = {
    action: "promote",
    status: "running",
    ...startEntry(to, evidence.program),
    ...(resumed && { beganAt: resumed.beganAt }),
    from: { stack: request.from, release: review.source?.id ?? "none" },
    ...(review.reasons.length > 0 && { allowed: review.reasons.map(({ code }) => code) }),
    before: [...review.before],
    minQuality: await qualityFloors(to, review),
  };
  const entry = resumed ? { ...begun, id: resumed.id } : await file.add(begun);
  request.log(resumed ? `Resuming ${entry.id} …` : `Applying to ${to.name} as ${entry.id} …`);
  const refresh = (review.report?.drift.length ?? 0) > 0;
  const release = await applyChange({ open: to, file, entry, lockPolicy, refresh, pinned: {} });
  const now = release.contents && { now: release.contents };
  return {
    ...review,
    verdict: release.status === "done" ? "done" : "failed",
    quality: compareQuality(evidence.contents, review.before, { ...ratioOf(request), ...now }),
    release,
  };
}

/** Compares both stacks. Changes nothing. */
async function planPromotion(request: PromotionRequest) {
  const { cwd, releases, log, allow } = request;
  const { from, to, source, file, resumed } = await openStacks(request);
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
  const reasons = promotionBlockers(evidence, source, difference).map((reason) => ({
    ...reason,
    allowed: allow.includes(reason.code),
  }));
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const unpinned = Object.keys(readPinned(config(pinnedModelsKey)));
  const isUpToDate =
    !file.interrupted &&
    report.changes.length + report.drift.length + unpinned.length === 0 &&
    isPromoted(source, file, resources);
  const isBlocked = reasons.some(({ allowed }) => !allowed);
  const review: Review = {
    verdict: isBlocked ? "refused" : isUpToDate ? "nothing to do" : "ready",
    from: from.name,
    to: to.name,
    program,
    reasons,
    report,
    before,
    unpinned,
    ...(difference && { difference }),
    ...(source && { source }),
    ...(resumed && { resumed: resumed.id }),
    quality: compareQuality(evidence.contents, before, ratioOf(request)),
    lost: modelsToDelete(report, resources),
    command: promoteCommand(request),
  };
  return { review, to, file, evidence, lockPolicy, resumed };
}

/** Opens both stacks with their histories, and finds an interrupted promotion of the same release. */
async function openStacks({ cwd, releases, ...names }: PromotionRequest) {
  if (names.from === names.to)
    throw new Error(`Cannot promote ${names.from} to itself. Choose another target stack.`);
  const from = await OpenStack.open({ cwd, stack: names.from });
  const to = await OpenStack.open({ cwd, stack: names.to });
  const { latest: source } = await ReleaseFile.open(releases, { project: from.project, stack: from.name });
  const file = await ReleaseFile.open(releases, { project: to.project, stack: to.name });
  const { interrupted } = file;
  const isSame = interrupted?.action === "promote" && interrupted.from?.release === source?.id;
  return { from, to, source, file, resumed: isSame ? interrupted : undefined };
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

/** Returns the command that applies the reviewed promotion. */
function promoteCommand(request: PromotionRequest): string {
  const { from, to, cwd, releases, allow, minQualityRatio, against } = request;
  const options = [
    ...allow.map((code) => `--allow ${code}`),
    ...(minQualityRatio === defaultRatio ? [] : [`--min-quality-ratio ${minQualityRatio}`]),
    ...(against.length === baselines.length ? [] : [`--against ${against.join(" ")}`]),
    "--yes",
  ];
  return `recommender promote ${shellQuote(from)} ${shellQuote(to)}${releaseFlags(cwd, releases)} ${options.join(" ")}`;
}

function ratioOf({ minQualityRatio, against }: PromotionRequest) {
  return { ratio: minQualityRatio, against };
}

/**
 * Returns the required NDCG@20 of each model: the floor from the comparison or the stack's `minQuality`, whichever is
 * higher.
 */
async function qualityFloors(to: OpenStack, { quality }: Review): Promise<Record<string, number>> {
  const own = readSettings(await to.config(), to.environment).minQuality;
  const floors = Object.entries(floorsOf(quality)).map(([model, floor]) => {
    return [model, Math.max(floor, own[model] ?? own["*"] ?? 0)];
  });
  return { ...own, ...Object.fromEntries(floors) };
}

/** Adds the quality of models that the state no longer contains, as recorded in the history. */
export function withRecordedQuality(served: readonly Served[], releases: readonly Release[]): Served[] {
  const known = new Map<string, Quality>();
  for (const { contents } of releases) {
    for (const { modelId, quality } of contents?.models ?? []) if (quality) known.set(modelId, quality);
  }
  const withKnown = (model: Served["generator"]): Served["generator"] => {
    const quality = model.quality ?? known.get(model.modelId);
    return quality ? { ...model, quality } : model;
  };
  return served.map(({ generator, ranker, ...rest }) => ({
    ...rest,
    generator: withKnown(generator),
    ...(ranker && { ranker: withKnown(ranker) }),
  }));
}
