import { basename, join } from "node:path";
import { pinnedModelsKey, readPinned } from "../../provider/run/pinned";
import { titleOf } from "../../provider/run/urn";
import { compareStack } from "../drift/compare";
import { readPolicy } from "../policy/file";
import { qualityFloorsOf, stageOf } from "../policy/gates";
import { applyChange } from "../promote/apply";
import { type LockPolicy, withStaleLockRemoved } from "../promote/lock";
import {
  compareQuality,
  type QualityComparison,
  qualityFloors,
  withRecordedQuality,
} from "../promote/quality";
import { readContents, servedModels, servesSameModels } from "../release/contents";
import { startEntry } from "../release/evidence";
import { exclusively } from "../release/exclusive";
import { type Blocker, type BlockerCode, shortList } from "../release/gate";
import { type Release, ReleaseFile, type Served } from "../release/history";
import { cwdFlag, releaseFlags, shellQuote } from "../stack/flags";
import { OpenStack, type StateResource } from "../stack/open";
import { type ProgramState, readProgramState } from "../stack/program";
import { decideRetraining, type RetrainDecision } from "./decision";
import { type ModelAge, readModelAges } from "./model-age";
import { policyLimits } from "./stale-models";
import { hasLimits, modelTitle, type StalenessLimits, unknownMeasures } from "./staleness";

/** Options of a retraining. */
interface RetrainRequest {
  readonly cwd: string;
  readonly stack: string;
  /** Directory of the release histories. */
  readonly releases: string;
  /** Limits of the command. Without any, those of the policy apply. */
  readonly limits: StalenessLimits;
  /** Configuration key of the trigger. Default: the key in the policy. */
  readonly trigger?: string;
  /** Blocking issues that the user allows. */
  readonly allow: readonly Extract<BlockerCode, "changes" | "pinned">[];
  /** Share of the live model's quality that the new model must reach. */
  readonly minQualityRatio: number;
  /** Whether to change nothing and only report the decision. */
  readonly dryRun: boolean;
  readonly log: (message: string) => void;
}

/** Result of a retraining, or of the decision whether to retrain. */
export interface Retraining {
  readonly verdict: "not due" | "due" | "refused" | "done" | "failed";
  readonly stack: string;
  readonly models: readonly ModelAge[];
  readonly limits: StalenessLimits;
  /** Why the models are trained again. */
  readonly because: readonly string[];
  /** Issues that block the retraining, unless the user allowed them. */
  readonly reasons: readonly (Blocker & { readonly allowed: boolean })[];
  readonly quality: readonly QualityComparison[];
  /** The models that were live at the start. */
  readonly before: readonly Served[];
  /** Id of the interrupted retraining that this one resumes. */
  readonly resumed?: string;
  /** The new history entry. */
  readonly release?: Release;
}

/** Trains the models of a stack again and deploys them, if they are stale. */
export async function retrain(request: RetrainRequest): Promise<Retraining> {
  if (request.dryRun) return (await planRetraining(request)).outcome;
  // A second run waits, and then decides from what the first one has done.
  const { releases, stack, log } = request;
  const onWait = () => log("Waiting for another retraining of this stack …");
  return exclusively(join(releases, `${stack}.retrain`), onWait, () => retrainNow(request));
}

async function retrainNow(request: RetrainRequest): Promise<Retraining> {
  const plan = await planRetraining(request);
  const { open, file, decision, outcome, key, current } = plan;
  if (decision.kind !== "train" || outcome.verdict !== "due") return outcome;
  const { value, because, resumed } = decision;
  const { minQualityRatio } = request;
  const ratio = { ratio: minQualityRatio, against: ["former"] } as const;
  const required = qualityFloorsOf(stageOf(plan.policy, open.name), plan.contents);
  const begun: Omit<Release, "id"> = {
    action: "retrain",
    status: "running",
    ...(await startEntry(open, await readProgram(request))),
    ...(resumed && { beganAt: resumed.beganAt }),
    retraining: { key, value, because: [...because] },
    before: [...outcome.before],
    minQuality: await qualityFloors(open, outcome.quality, required),
  };
  const entry = resumed ? { ...begun, id: resumed.id } : await file.add(begun);
  request.log(`${resumed ? "Resuming" : "Training again in"} ${open.name} as ${entry.id} …`);
  // The history has the value, so a run that is killed from here on is resumed with the same value.
  if (current !== value) await open.stack.setConfig(key, { value });
  const { lockPolicy } = plan;
  let isUnused = false;
  const verify = (now: readonly StateResource[]) => {
    isUnused = servesSameModels(outcome.before, servedModels(now));
    return isUnused ? unusedTrigger(key) : undefined;
  };
  const release = await applyChange({
    open,
    file,
    entry,
    lockPolicy,
    pinned: {},
    pinsOnFailure: true,
    verify,
  });
  if (isUnused) await restoreTrigger(open, key, current);
  const trained = release.contents && { now: release.contents };
  return {
    ...outcome,
    verdict: release.status === "done" ? "done" : "failed",
    quality: compareQuality(plan.contents, outcome.before, { ...ratio, ...trained }),
    release,
  };
}

/** Reads the state of the program, without the configuration of the stack, which each retraining changes. */
async function readProgram({ cwd, releases, stack }: RetrainRequest): Promise<ProgramState> {
  const state = await readProgramState(cwd, releases);
  const config = `Pulumi.${stack.split("/").at(-1)}.yaml`;
  return { ...state, changed: state.changed.filter((path) => basename(path) !== config) };
}

/** Decides whether to train, and what blocks it. Changes nothing. */
async function planRetraining(request: RetrainRequest) {
  const { cwd, stack, releases, log, allow, minQualityRatio } = request;
  const policy = readPolicy(cwd);
  const limits = hasLimits(request.limits) ? request.limits : policyLimits(policy.retrain);
  const open = await OpenStack.open({ cwd, stack });
  const file = await ReleaseFile.open(releases, { project: open.project, stack });
  const given = request.trigger ?? policy.retrain.trigger;
  const key = given.includes(":") ? given : `${open.project}:${given}`;
  const current = (await open.allConfig())[key]?.value;
  const { resources } = await open.state();
  const ages = await readModelAges(open, resources);
  if (ages.length === 0)
    throw new Error(`Stack ${stack} has no live model to train again. Deploy one first with \`pulumi up\`.`);
  assertMeasured(ages, limits);
  const pinned = Object.keys(readPinned((await open.config())(pinnedModelsKey)));
  const evidence = { releases: file.releases, ages, limits, key, current, isPinned: pinned.length > 0 };
  const decision = decideRetraining({ ...evidence, now: Date.now() });
  // The engine of a killed run may still be working.
  const lockPolicy: LockPolicy = { wait: true, log };
  const reasons = (await blockersOf(open, decision, lockPolicy, releases)).map((reason) => ({
    ...reason,
    allowed: allow.some((code) => code === reason.code),
  }));
  const resumed = decision.kind === "train" ? decision.resumed : undefined;
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const contents = readContents(resources);
  const isBlocked = reasons.some(({ allowed }) => !allowed);
  const outcome: Retraining = {
    verdict: decision.kind !== "train" ? "not due" : isBlocked ? "refused" : "due",
    stack,
    models: ages,
    limits,
    because: decision.kind === "train" ? decision.because : [],
    reasons,
    quality: compareQuality(contents, before, { ratio: minQualityRatio, against: ["former"] }),
    before,
    ...(resumed && { resumed: resumed.id }),
  };
  return { open, file, policy, key, current, decision, outcome, contents, lockPolicy };
}

/** Throws if no limit can be measured, because the models would never count as stale. */
function assertMeasured(ages: readonly ModelAge[], limits: StalenessLimits): void {
  const count = Object.values(limits).filter((limit) => limit !== undefined).length;
  const blind = ages.find((age) => count > 0 && unknownMeasures(age, limits).length === count);
  if (!blind) return;
  const unknown = unknownMeasures(blind, limits).join(" and ");
  throw new Error(
    `The service of ${modelTitle(blind)} does not report ${unknown}. ` +
      "Use the other limit, or run the command without limits to train now.",
  );
}

/** Returns what blocks a retraining. An attempt that failed leaves changes behind, which the next one completes. */
async function blockersOf(
  open: OpenStack,
  decision: RetrainDecision,
  lockPolicy: LockPolicy,
  releases: string,
): Promise<Blocker[]> {
  const { name: stack, location } = open;
  if (decision.kind === "unfinished") {
    const { id, action } = decision.entry;
    throw new Error(
      `${id} (${action}) of ${stack} has not ended. Complete it first: run the command that started it once more.`,
    );
  }
  if (decision.kind === "none") return [];
  const blockers: Blocker[] = [];
  if (decision.endsRollback) {
    const command = `recommender rollback ${shellQuote(stack)}${releaseFlags(location.cwd, releases)} --undo --yes`;
    const words = `${stack} was rolled back, and a new model would end the rollback`;
    blockers.push({ code: "pinned", words, fix: `end it yourself with \`${command}\`` });
  }
  if (decision.isRetry) return blockers;
  lockPolicy.log(`Comparing ${stack} with the program …`);
  const { changes } = await withStaleLockRemoved(open, lockPolicy, () => compareStack(open));
  if (changes.length > 0) {
    const titles = shortList(changes.map(({ resource, kind }) => `${titleOf(resource)} (${kind})`));
    const fix = `promote them, or apply them with \`pulumi up --stack ${shellQuote(stack)}${cwdFlag(location.cwd)}\``;
    blockers.push({ code: "changes", words: `the program would also change ${stack}: ${titles}`, fix });
  }
  return blockers;
}

function unusedTrigger(key: string): string {
  const [, name = key] = key.split(":");
  return (
    `No live model was trained, because no model of the program uses the trigger ${key}: ` +
    `add \`new pulumi.Config(…).get("${name}") ?? ""\` to the triggers of the Model`
  );
}

async function restoreTrigger(open: OpenStack, key: string, value: string | undefined): Promise<void> {
  if (value === undefined) await open.stack.removeConfig(key);
  else await open.stack.setConfig(key, { value });
}
