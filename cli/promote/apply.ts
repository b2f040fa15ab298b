import { resolve } from "node:path";
import { environmentName } from "../../client/settings";
import { releaseVariable } from "../../provider/run/origin";
import { pinnedModelsKey, pinnedModelsVariable } from "../../provider/run/pinned";
import { partsOf, titleOf } from "../../provider/run/urn";
import { runChecks, withChecks } from "../release/checks";
import { readContents, servedModels, servesSameModels } from "../release/contents";
import type { Release, ReleaseFile } from "../release/history";
import type { OpenStack } from "../stack/open";
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
    await clearPending(open, lockPolicy);
    await withStaleLockRemoved(open, lockPolicy, () => open.stack.up(options));
    await savePins(open, change.pinned);
  } catch (error) {
    return recordEnd(change, output.reason(error as Error));
  }
  return recordEnd(change);
}

/** Records the end of an update: its result, and the new contents of the stack. */
async function recordEnd({ open, file, entry }: Change, failure?: string): Promise<Release> {
  const { resources } = await open.state();
  const checks = await runChecks(open, resources).catch((error: Error) => error);
  const contents = readContents(resources);
  const checked = checks instanceof Error ? contents : withChecks(contents, checks);
  const failed = checked.deployments.find(({ check }) => check && check.result !== "passed");
  const unchecked = checks instanceof Error ? `its checks could not run: ${checks.message}` : undefined;
  const reason = failure ?? (failed ? `Deployment ${failed.name}: ${failed.check?.result}` : unchecked);
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

/**
 * Clears the pending creates that a killed engine left in the state. The provider resumes each one when the engine
 * creates the resource again.
 */
async function clearPending(open: OpenStack, lockPolicy: LockPolicy): Promise<void> {
  const { pending } = await open.state();
  if (pending.length === 0) return;
  const names = pending.map(({ urn }) => titleOf(partsOf(urn)));
  lockPolicy.log(`Resuming an interrupted run that was creating ${names.join(", ")}.`);
  await withStaleLockRemoved(open, lockPolicy, () => open.stack.refresh({ clearPendingCreates: true }));
}

/** Writes the pinned models to the configuration of the stack. Called only after they are deployed. */
async function savePins(open: OpenStack, pinned: Change["pinned"]): Promise<void> {
  const key = `recommender:${pinnedModelsKey}`;
  const current = (await open.config())(pinnedModelsKey);
  if (current !== undefined) await open.stack.removeConfig(key);
  for (const [name, models] of Object.entries(pinned)) {
    for (const [role, value] of Object.entries(models)) {
      await open.stack.setConfig(`${key}["${name}"].${role}`, { value: String(value) }, true);
    }
  }
}
