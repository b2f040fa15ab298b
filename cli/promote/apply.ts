import { resolve } from "node:path";
import { environmentName } from "../../client/settings";
import type { Rules } from "../../contract";
import { releaseVariable } from "../../provider/run/origin";
import { type Pinned, pinnedModelsKey, pinnedModelsVariable } from "../../provider/run/pinned";
import { runChecks, withChecks } from "../release/checks";
import { masked, readContents, resourcesOf, servedModels, servesSameModels } from "../release/contents";
import type { Release, ReleaseFile, Served } from "../release/history";
import type { OpenStack, StateResource } from "../stack/open";
import { EngineOutput } from "./engine-output";
import { type LockPolicy, withStaleLockRemoved } from "./lock";

/** An update of a stack, and the history entry that records it. */
export interface Change {
  readonly open: OpenStack;
  readonly file: ReleaseFile;
  /** The history entry as it is at the start of the update. */
  readonly entry: Release;
  readonly lockPolicy: LockPolicy;
  /** Whether to refresh first, which reverts drift. */
  readonly refresh?: boolean;
  /** URNs of the resources to update. All resources if undefined. */
  readonly target?: readonly string[];
  /** Models to pin, by deployment. Empty for a promotion. */
  readonly pinned: Readonly<Record<string, object>>;
  /** Whether to pin the previous models if the update fails, so a later `pulumi up` does not deploy what failed. */
  readonly pinsOnFailure?: boolean;
  /** Checks the state after a successful update. Returns the reason if the change has failed anyway. */
  readonly verify?: (resources: readonly StateResource[]) => string | undefined;
}

/**
 * Updates a stack, and records the start and the end in its history, even if the update fails. The provider enforces
 * the required quality, and rolls back to the previous models if a check fails, so the state stays correct.
 */
export async function applyChange(change: Change): Promise<Release> {
  const { open, file, lockPolicy, entry } = change;
  await file.put(entry);
  const { workspace } = open.stack;
  workspace.envVars = {
    ...workspace.envVars,
    [environmentName("minQuality")]: JSON.stringify(entry.minQuality ?? {}),
    [environmentName("rollback")]: "true",
    [pinnedModelsVariable]: JSON.stringify(change.pinned),
    [releaseVariable]: entry.id,
  };
  const output = new EngineOutput();
  const { refresh, target } = change;
  const options = { ...output.options, ...(refresh && { refresh }), ...(target && { target: [...target] }) };
  try {
    // The notes of a killed run stay in the state: without them, another machine would repeat its calls.
    await withStaleLockRemoved(open, lockPolicy, () => open.stack.up(options));
    await savePins(open, change.pinned);
  } catch (error) {
    const reason = output.reason(error as Error);
    if (change.pinsOnFailure) await pinPrevious(change);
    return recordEnd(change, reason);
  }
  return recordEnd(change);
}

/**
 * Pins the models of the deployments whose live models are those from before the update. If the program does not retain
 * a model, the engine would try to delete it while it is live, so nothing is pinned.
 */
async function pinPrevious({ open, entry }: Change): Promise<void> {
  const { resources } = await open.state();
  if (resourcesOf(resources, "Model").some(({ retainOnDelete }) => !retainOnDelete)) return;
  const now = servedModels(resources);
  const unchanged = (entry.before ?? []).filter((former) =>
    servesSameModels(
      [former],
      now.filter(({ name }) => name === former.name),
    ),
  );
  await savePins(open, pinsOf(unchanged));
}

/** Returns the pins that keep models and rules live, by deployment. */
export function pinsOf(served: readonly Served[]): Readonly<Record<string, Pinned>> {
  const pin = ({ generator, ranker, rules = null }: Served): Pinned => ({
    generatorModelId: generator.modelId,
    ...(ranker && { rankerModelId: ranker.modelId }),
    // A release does not contain secrets, so rules with secrets cannot be restored.
    ...(!JSON.stringify(rules).includes(JSON.stringify(masked)) && { rules: rules as Rules | null }),
  });
  return Object.fromEntries(served.map((one) => [one.name, pin(one)]));
}

/** Records the end of an update: its result, and the new contents of the stack. */
async function recordEnd({ open, file, entry, verify }: Change, failure?: string): Promise<Release> {
  const { resources } = await open.state();
  const checks = await runChecks(open, resources).catch((error: Error) => error);
  const contents = readContents(resources);
  const checked = checks instanceof Error ? contents : withChecks(contents, checks);
  const failed = checked.deployments.find(({ check }) => check && check.result !== "passed");
  const unchecked = checks instanceof Error ? `its checks could not run: ${checks.message}` : undefined;
  const reason =
    failure ??
    verify?.(resources) ??
    (failed ? `Deployment ${failed.name}: ${failed.check?.result}` : unchecked);
  const ended: Release = {
    ...entry,
    status: reason === undefined ? "done" : "failed",
    endedAt: new Date().toISOString(),
    ...(reason !== undefined && {
      reason: `${withoutDirectory(reason, open)}. ${liveModelsText(entry, servedModels(resources))}`,
    }),
    contents: checked,
  };
  await file.put(ended);
  return ended;
}

/** Replaces the local path of the program with `.`, because users commit the history. */
function withoutDirectory(text: string, { location }: OpenStack): string {
  return text.replaceAll(resolve(location.cwd), ".").replace(/\.$/, "");
}

function liveModelsText({ before = [] }: Release, now: ReturnType<typeof servedModels>): string {
  if (before.length === 0) {
    return now.length === 0
      ? "There is no live deployment, as before."
      : "There was no earlier deployment to restore.";
  }
  if (servesSameModels(before, now)) return "The previous models are live.";
  const models = now.map(({ name, generator }) => `${name} uses ${generator.modelId}`);
  return `The live models have changed: ${models.join(", ") || "none"}.`;
}

/** Writes the pinned models to the configuration of the stack. Called only after they are deployed. */
async function savePins(open: OpenStack, pinned: Change["pinned"]): Promise<void> {
  const key = `recommender:${pinnedModelsKey}`;
  const current = (await open.config())(pinnedModelsKey);
  if (current !== undefined) await open.stack.removeConfig(key);
  for (const [name, models] of Object.entries(pinned)) {
    for (const [role, value] of Object.entries(models)) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      await open.stack.setConfig(`${key}["${name}"].${role}`, { value: text }, true);
    }
  }
}
