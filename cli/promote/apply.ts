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

/** What is done to a stack, and where it is recorded. */
export interface Change {
  readonly open: OpenStack;
  readonly file: ReleaseFile;
  /** The entry as it is begun. */
  readonly entry: Release;
  readonly lockPolicy: LockPolicy;
  /** Whether what the service has changed is looked at first, so that it is reverted. */
  readonly refresh?: boolean;
  /** URNs of the only resources that may change. */
  readonly target?: readonly string[];
  /** The models that are pinned when it is through: none after a promotion. */
  readonly pinned: Readonly<Record<string, object>>;
}

/**
 * Carries something out on a stack, recorded before it begins and when it is over, whatever the end.
 * A model that is not good enough is never deployed, and a check that fails rolls back to the former models: both are
 * the provider's doing, so that the state knows of them.
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
  const progress = new EngineOutput();
  const { refresh, target } = change;
  const options = {
    ...progress.options,
    ...(refresh && { refresh }),
    ...(target && { target: [...target] }),
  };
  try {
    await clearPending(open, lockPolicy);
    await withStaleLockRemoved(open, lockPolicy, () => open.stack.up(options));
    await savePins(open, change.pinned);
  } catch (error) {
    return recordEnd(change, progress.reason(error as Error));
  }
  return recordEnd(change);
}

/** Records how it ended and what the stack holds now. */
async function recordEnd({ open, file, entry }: Change, failure?: string): Promise<Release> {
  const { resources } = await open.state();
  const checks = await runChecks(open, resources).catch((error: Error) => error);
  const contents = readContents(resources);
  const checked = checks instanceof Error ? contents : withChecks(contents, checks);
  const failed = checked.deployments.find(({ check }) => check && check.result !== "passed");
  const unchecked = checks instanceof Error ? `its checks could not be run: ${checks.message}` : undefined;
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

/** The history is committed: it does not say where on a machine the program is. */
function withoutDirectory(text: string, { location }: OpenStack): string {
  return text.replaceAll(resolve(location.cwd), ".").replace(/\.$/, "");
}

function liveModelsText({ before = [] }: Release, now: ReturnType<typeof servedModels>): string {
  if (before.length === 0) {
    return now.length === 0 ? "Nothing serves, as before." : "Nothing served before that could be restored.";
  }
  if (servesSameModels(before, now)) return "The former models serve.";
  const models = now.map(({ name, generator }) => `${name} serves ${generator.modelId}`);
  return `Not the same models serve as before: ${models.join(", ") || "none"}.`;
}

/** The state does not know what a killed engine was creating; the provider resumes it when it is created again. */
async function clearPending(open: OpenStack, lockPolicy: LockPolicy): Promise<void> {
  const { pending } = await open.state();
  if (pending.length === 0) return;
  const names = pending.map(({ urn }) => titleOf(partsOf(urn)));
  lockPolicy.log(`An earlier run was interrupted while it worked on ${names.join(", ")}: resuming that.`);
  await withStaleLockRemoved(open, lockPolicy, () => open.stack.refresh({ clearPendingCreates: true }));
}

/** Writes what is pinned into the configuration of the stack, only once it has come true. */
async function savePins(open: OpenStack, pinned: Change["pinned"]): Promise<void> {
  const key = `recommender:${pinnedModelsKey}`;
  const pinnedNow = (await open.config())(pinnedModelsKey);
  if (pinnedNow !== undefined) await open.stack.removeConfig(key);
  for (const [name, models] of Object.entries(pinned)) {
    for (const [role, value] of Object.entries(models)) {
      await open.stack.setConfig(`${key}["${name}"].${role}`, { value: String(value) }, true);
    }
  }
}
