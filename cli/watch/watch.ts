import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StagePolicy } from "../policy/schedule";
import { defaultWatch } from "../policy/schema";
import { NoRollbackTarget, rollBack } from "../promote/rollback";
import { servedModels, servesSameModels } from "../release/contents";
import { exclusively } from "../release/exclusive";
import { type Figures, type Release, ReleaseFile, type Watch } from "../release/history";
import { releaseFlags, shellQuote } from "../stack/flags";
import type { OpenStack, StateResource } from "../stack/open";
import { durationText } from "../terminal/option-values";
import { withProgress } from "../terminal/progress";
import { type DeploymentWatch, openDeployments } from "./deployment-watch";
import { WatchDisplay } from "./display";
import { nextStep } from "./next-step";
import { findServiceViolation, findViolation } from "./violation";

/** Settings of a stage's watch in the policy. */
type WatchPolicy = NonNullable<StagePolicy["watch"]>;

/** A release to watch, or whose watch to continue. */
interface WatchRequest {
  readonly open: OpenStack;
  /** Directory of the release histories. */
  readonly releases: string;
  readonly entry: Release;
  readonly policy: WatchPolicy;
  readonly json?: true | undefined;
  readonly log: (message: string) => void;
}

/** Time between two readings of the service's metrics, and between two writes of the history. */
const saveMs = 10_000;

/** Returns the policy of a stage, with another duration if the command has one. Undefined without both. */
export function watchPolicyOf({ watch }: StagePolicy, forMs: number | undefined): WatchPolicy | undefined {
  if (forMs === undefined) return watch;
  return { ...(watch ?? defaultWatch), for: { text: durationText(forMs), ms: forMs } };
}

/** Returns the watch of a history entry that begins now. */
export function newWatch(policy: WatchPolicy, before?: Record<string, Figures>): Watch {
  const { maxErrors, maxEmpty, maxLatencyMs, maxPopularityIncrease } = policy;
  const limits = {
    maxErrors,
    maxEmpty,
    ...(maxLatencyMs !== undefined && { maxLatencyMs }),
    maxPopularityIncrease,
  };
  return { state: "watching", forMs: policy.for.ms, limits, observedMs: 0, ...(before && { before }) };
}

/** Measures the deployments of a stack before a switch: one answer for each user. */
export async function measureBefore(
  open: OpenStack,
  { users }: WatchPolicy,
): Promise<Record<string, Figures>> {
  const deployments = await openDeployments(open, (await open.state()).resources, users);
  try {
    const measured = deployments.map(async (deployment) => {
      for (let count = 0; count < deployment.userCount; count++) {
        if (count > 0) await sleep(deployment.pauseMs);
        await deployment.ask();
      }
      return [deployment.name, deployment.figures] as const;
    });
    return Object.fromEntries(await Promise.all(measured));
  } finally {
    await Promise.all(deployments.map((deployment) => deployment.close()));
  }
}

/** Watches a release until its time is over or a limit is violated, which rolls it back. Continues a killed watch. */
export async function watchRelease(request: WatchRequest): Promise<Release> {
  const { open, releases, log } = request;
  const onWait = () => log("Waiting for another watch of this stack …");
  return exclusively(join(releases, `${open.name}.watch`), onWait, () => watchNow(request));
}

async function watchNow(request: WatchRequest): Promise<Release> {
  const { open, log } = request;
  for (;;) {
    const file = await openHistory(request);
    // Another run may have completed the watch while this one waited for it, or another change may have ended it.
    const entry = file.releases.find(({ id }) => id === request.entry.id) ?? request.entry;
    if (file.watched?.id !== entry.id) return entry;
    const step = nextStep(entry, file.releases);
    const hasRollback = file.releases.some(({ watched }) => watched === entry.id);
    const { resources } = await open.state();
    if (!hasRollback && !servesSameModels(servedModels(resources), entry.contents?.deployments ?? []))
      return file.putWatched({ ...entry, watch: { ...(entry.watch as Watch), state: "ended" } });
    if (step.kind === "finish") return finish(file, entry, step);
    if (step.kind === "observe") {
      await observe(file, entry, resources, request);
      continue;
    }
    log(`${entry.id} violates a limit: ${step.violation}. Rolling back …`);
    const problem = await rollBackOrExplain(entry, request);
    if (problem !== undefined) return finish(file, entry, { violation: step.violation, problem });
  }
}

/** Rolls back a release. Returns why there are no models to roll back to, if there are none. */
async function rollBackOrExplain(
  entry: Release,
  { open, releases, log }: WatchRequest,
): Promise<string | undefined> {
  try {
    const { cwd } = open.location;
    const options = { cwd, stack: open.name, releases, undo: false, preview: false, log };
    const { release } = await rollBack({ ...options, restore: entry });
    if (release?.status === "done") return undefined;
    throw new Error(`${entry.id} could not be rolled back: ${release?.reason} Run this command again.`);
  } catch (error) {
    if (error instanceof NoRollbackTarget) return error.message;
    throw error;
  }
}

/** Reads the history as it is now. */
function openHistory({ open, releases }: WatchRequest): Promise<ReleaseFile> {
  return ReleaseFile.open(releases, { project: open.project, stack: open.name });
}

/** Records how the watch ended. A violated release counts as failed, so nobody promotes it or rolls back to it. */
async function finish(
  file: ReleaseFile,
  entry: Release,
  { violation, rollback, problem }: { violation?: string; rollback?: Release; problem?: string },
): Promise<Release> {
  const watch = entry.watch as Watch;
  const outcome = rollback
    ? `It was rolled back as ${rollback.id}.`
    : `It is still live, because it cannot be rolled back: ${problem}`;
  const ended: Release =
    violation === undefined
      ? { ...entry, watch: { ...watch, state: "passed" } }
      : {
          ...entry,
          status: "failed",
          reason: `The watch found that ${violation}. ${outcome}`,
          watch: { ...watch, state: "failed" },
        };
  return file.putWatched(ended);
}

/** Watches until the time is over, a limit is violated, or another change of the stack ends the watch. */
async function observe(
  file: ReleaseFile,
  entry: Release,
  resources: readonly StateResource[],
  { open, releases, policy, json }: WatchRequest,
): Promise<void> {
  const deployments = await openDeployments(open, resources, policy.users);
  const display = new WatchDisplay(entry, json === true);
  const command = `recommender watch ${shellQuote(open.name)}${releaseFlags(open.location.cwd, releases)}`;
  const again = () => `${entry.id} is still watched. Continue with \`${command}\`.`;
  const save = async (watch: Watch) => {
    const saved = await file.putWatched({ ...entry, watch });
    return saved.watch?.state === "watching";
  };
  try {
    await withProgress(display, again, () =>
      observeAll(deployments, entry.watch as Watch, { policy, display, save }),
    );
  } finally {
    await Promise.all(deployments.map((deployment) => deployment.close()));
  }
}

async function observeAll(
  deployments: readonly DeploymentWatch[],
  begun: Watch,
  {
    policy,
    display,
    save,
  }: {
    readonly policy: WatchPolicy;
    readonly display: WatchDisplay;
    /** Writes the watch to the history. Returns false if it has ended. */
    readonly save: (watch: Watch) => Promise<boolean>;
  },
): Promise<void> {
  let watch = begun;
  const everyMs = Math.max(policy.every.ms, ...deployments.map(({ pauseMs }) => pauseMs));
  let [savedAt, metrics] = [Number.NEGATIVE_INFINITY, await readMetrics(deployments)];
  for (;;) {
    const began = performance.now();
    const answered = (await Promise.all(deployments.map((deployment) => deployment.ask()))).includes(true);
    const isDue = began - savedAt >= saveMs;
    if (isDue) metrics = await readMetrics(deployments);
    const now = Object.fromEntries(deployments.map(({ name, figures }) => [name, figures]));
    const violation =
      deployments.map(({ name, figures }) => findViolation(name, figures, watch)).find(Boolean) ??
      metrics.map((figures) => findServiceViolation(figures, watch.limits)).find(Boolean);
    watch = { ...watch, now, ...(violation !== undefined && { violation }) };
    display.update({ watch, metrics, answered });
    const isOver = violation !== undefined || watch.observedMs >= watch.forMs;
    if (isDue || isOver) {
      savedAt = began;
      if (!(await save(watch)) || isOver) return;
    }
    await sleep(Math.max(0, everyMs - (performance.now() - began)));
    // Time without a reachable service does not count, so the watch takes longer.
    const passedMs = answered ? performance.now() - began : 0;
    watch = { ...watch, observedMs: Math.min(watch.forMs, Math.round(watch.observedMs + passedMs)) };
  }
}

async function readMetrics(deployments: readonly DeploymentWatch[]) {
  const read = await Promise.all(deployments.map(({ metrics }) => metrics.read()));
  return read.filter((figures) => figures !== undefined);
}
