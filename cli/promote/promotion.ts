import { readSettings } from "../../client/settings";
import { pinnedModelsKey, pinnedModelsVariable, readPinned } from "../../provider/run/pinned";
import { logicalName } from "../../provider/run/urn";
import { compareStack } from "../drift/compare";
import { readContents, resourcesOf, servedModels } from "../release/contents";
import { gatherEvidence, startEntry } from "../release/evidence";
import { type BlockerCode, type Evidence, promotionBlockers, sameContents } from "../release/gate";
import { type Quality, type Release, ReleaseFile, type Served } from "../release/history";
import { releaseFlags, shellQuote } from "../stack/flags";
import { OpenStack } from "../stack/open";
import { programDifference } from "../stack/program";
import { applyChange } from "./apply";
import { type LockPolicy, withStaleLockRemoved } from "./lock";
import { type Baseline, baselines, compareQuality, defaultRatio, floorsOf } from "./quality";
import type { Review } from "./review";

/** What is to be promoted, and how strictly. */
export interface PromotionRequest {
  readonly cwd: string;
  readonly from: string;
  readonly to: string;
  /** Folder of the histories. */
  readonly releases: string;
  readonly allow: readonly BlockerCode[];
  /** Share of the quality compared with that a model must reach. */
  readonly minQualityRatio: number;
  readonly against: readonly Baseline[];
  /** Whether it is carried out. */
  readonly yes: boolean;
  readonly log: (message: string) => void;
}

/** Brings what one stack runs to another: looks at both, and carries it out where that is asked for and may be. */
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

interface Plan {
  readonly review: Review;
  readonly to: OpenStack;
  readonly file: ReleaseFile;
  readonly evidence: Evidence;
  readonly lockPolicy: LockPolicy;
  /** The promotion of the same release that was begun and never ended. */
  readonly resumed: Release | undefined;
}

/** Looks at both stacks and changes nothing. */
async function planPromotion(request: PromotionRequest): Promise<Plan> {
  const { cwd, releases, log, allow } = request;
  if (request.from === request.to) throw new Error(`${request.from} cannot be promoted to itself`);
  const from = await OpenStack.open({ cwd, stack: request.from });
  const to = await OpenStack.open({ cwd, stack: request.to });
  const { latest: source } = await ReleaseFile.open(releases, { project: from.project, stack: from.name });
  const file = await ReleaseFile.open(releases, { project: to.project, stack: to.name });
  const { interrupted } = file;
  const resumed =
    interrupted?.action === "promote" && interrupted.from?.release === source?.id ? interrupted : undefined;
  const lockPolicy: LockPolicy = { wait: resumed !== undefined, log };

  log(`Comparing ${from.name} and ${to.name} …`);
  const { resources } = await to.state();
  const unpinnedTo = await to.withEnvironment({ [pinnedModelsVariable]: "{}" });
  const [evidence, report, config] = await Promise.all([
    gatherEvidence(from, releases),
    // As if nothing were pinned: a promotion ends a rollback.
    withStaleLockRemoved(to, lockPolicy, () => compareStack(unpinnedTo)),
    to.config(),
  ]);
  const { program } = evidence;
  const [released, checkedOut] = [source?.program.commit, program.commit];
  const difference =
    released && checkedOut && released !== checkedOut
      ? await programDifference(released, { cwd, releases, to: checkedOut })
      : undefined;
  const reasons = promotionBlockers(evidence, source, difference).map((reason) => ({
    ...reason,
    allowed: allow.includes(reason.code),
  }));
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const unpinned = Object.keys(readPinned(config(pinnedModelsKey)));
  const replaced = report.changes.filter(({ kind }) => kind === "replaced");
  const lost = resourcesOf(resources, "Model").filter(
    ({ urn, retainOnDelete }) => !retainOnDelete && replaced.some(({ resource }) => resource.urn === urn),
  );
  const now = readContents(resources);
  const isThere =
    !interrupted &&
    report.changes.length + report.drift.length + unpinned.length === 0 &&
    file.releases.some(
      ({ status, from: promoted, contents }) =>
        status === "done" &&
        promoted?.release === source?.id &&
        contents !== undefined &&
        sameContents(contents, now),
    );
  const refused = reasons.some(({ allowed }) => !allowed);
  const review: Review = {
    verdict: refused ? "refused" : isThere ? "nothing to do" : "ready",
    ...{ from: from.name, to: to.name, program, reasons, report, before, unpinned },
    ...(difference && { difference }),
    ...(source && { source }),
    ...(resumed && { resumed: resumed.id }),
    quality: compareQuality(evidence.contents, before, ratioOf(request)),
    lost: lost.map(({ urn }) => logicalName(urn)),
    command: promoteCommand(request),
  };
  return { review, to, file, evidence, lockPolicy, resumed };
}

/** The command that carries a promotion out as it was reviewed. */
function promoteCommand({
  from,
  to,
  cwd,
  releases,
  allow,
  minQualityRatio,
  against,
}: PromotionRequest): string {
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

/** What each model is asked to reach: what the comparison asks for, and no less than what the stack itself does. */
async function qualityFloors(to: OpenStack, { quality }: Review): Promise<Record<string, number>> {
  const own = readSettings(await to.config(), { ...process.env, ...to.location.env }).minQuality;
  const floors = Object.entries(floorsOf(quality)).map(([model, floor]) => {
    return [model, Math.max(floor, own[model] ?? own["*"] ?? 0)];
  });
  return { ...own, ...Object.fromEntries(floors) };
}

/** Models that the state does not hold any more are known from the history. */
export function withRecordedQuality(served: readonly Served[], releases: readonly Release[]): Served[] {
  const known = new Map<string, Quality>();
  for (const { contents } of releases) {
    for (const { modelId, quality } of contents?.models ?? []) if (quality) known.set(modelId, quality);
  }
  const filledIn = (model: Served["generator"]): Served["generator"] => {
    const quality = model.quality ?? known.get(model.modelId);
    return quality ? { ...model, quality } : model;
  };
  return served.map(({ generator, ranker, ...rest }) => ({
    ...rest,
    generator: filledIn(generator),
    ...(ranker && { ranker: filledIn(ranker) }),
  }));
}
