import { undefinedIfMissing } from "../../client/error-meaning";
import { routes } from "../../contract";
import { pinnedModelsKey, readPinned } from "../../provider/run/pinned";
import { logicalName } from "../../provider/run/urn";
import { resourcesOf, servedModels, servesSameModels } from "../release/contents";
import { startEntry } from "../release/evidence";
import { type Contents, type Release, ReleaseFile, type Served } from "../release/history";
import { OpenStack, type StateResource } from "../stack/open";
import { readProgramState } from "../stack/program";
import { providerSettings } from "../stack/providers";
import { applyChange, pinsOf } from "./apply";
import { withRecordedQuality } from "./quality";

/** Options of a rollback. */
export interface RollbackRequest {
  readonly cwd: string;
  readonly stack: string;
  readonly releases: string;
  /** Id of the target release. Default: the newest earlier release with other models that all still exist. */
  readonly to?: string;
  /** Entry whose previous models to restore, because its watch found a violation. */
  readonly restore?: Release;
  /** Whether to deploy the models that the program declares, which ends an earlier rollback. */
  readonly undo: boolean;
  /** Whether to change nothing and only report what would be deployed. */
  readonly preview: boolean;
  readonly log: (message: string) => void;
}

/** There are no earlier models to roll back to. */
export class NoRollbackTarget extends Error {
  override readonly name = "NoRollbackTarget";
}

/** Result of a rollback or of its preview. */
export interface Rollback {
  readonly stack: string;
  /** Target release. Undefined with `--undo`, which deploys the models that the program declares. */
  readonly to?: string;
  readonly before: readonly Served[];
  readonly after: Contents["deployments"];
  readonly release?: Release;
}

/** Deploys the models of an earlier release without training, and pins them so the next update keeps them. */
export async function rollBack(request: RollbackRequest): Promise<Rollback> {
  const { cwd, stack, releases, log } = request;
  const open = await OpenStack.open({ cwd, stack });
  const file = await ReleaseFile.open(releases, { project: open.project, stack });
  const { resources } = await open.state();
  const { resumed, to } = resume(file.interrupted, request);
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const pinned = readPinned((await open.config())(pinnedModelsKey));
  if (request.undo && !resumed && Object.keys(pinned).length === 0)
    throw new Error(`There is no rollback of ${stack} to undo.`);
  const { restore } = request;
  if (restore && file.watched?.id !== restore.id)
    throw new Error(`Another change of ${stack} has begun, so ${restore.id} is not rolled back.`);
  const target = request.undo
    ? undefined
    : restore?.before
      ? await targetBefore(open, resources, file.releases, restore)
      : await findTarget(open, resources, file.releases, before, to);
  const after = target?.contents?.deployments ?? [];
  const planned = { stack, before, after, ...(target && { to: target.id }) };
  if (request.preview) return planned;

  const begun: Omit<Release, "id"> = {
    action: "rollback",
    status: "running",
    ...(await startEntry(open, await readProgramState(cwd, releases))),
    ...(resumed && { beganAt: resumed.beganAt }),
    ...(target && target.id !== restore?.id && { from: { stack, release: target.id } }),
    ...(restore && { watched: restore.id }),
    before: [...before],
  };
  const entry = resumed ? { ...begun, id: resumed.id } : await file.add(begun);
  const from = target?.id === restore?.id ? "the models from before" : "the models of";
  const models = target ? `${from} ${target.id}` : "the models that the program declares";
  log(`Deploying ${models} in ${stack} as ${entry.id} …`);
  const release = await applyChange({
    open,
    file,
    entry,
    lockPolicy: { wait: resumed !== undefined, log },
    target: deploymentUrns(resources),
    pinned: pinsOf(after),
  });
  return { ...planned, after: release.contents?.deployments ?? [], release };
}

/** Finds an interrupted rollback to the same target, for this run to resume. Its models may already be deployed. */
function resume(
  interrupted: Release | undefined,
  { to, undo, restore }: RollbackRequest,
): { resumed?: Release; to: string | undefined } {
  if (interrupted?.action !== "rollback") return { to };
  const target = interrupted.from?.release;
  if (restore) return interrupted.watched === restore.id ? { resumed: interrupted, to: target } : { to };
  const isSame = undo ? target === undefined : target !== undefined && (to ?? target) === target;
  return isSame ? { resumed: interrupted, to: target } : { to };
}

const retainHint = "Set `retainOnDelete` on a Model to keep previous models for rollbacks.";

/** Returns the newest release with the models that were live before an entry, or else the entry with these models. */
async function targetBefore(
  open: OpenStack,
  resources: readonly StateResource[],
  releases: readonly Release[],
  entry: Release,
): Promise<Release> {
  const { before = [], contents, action } = entry;
  // Two releases that are both bad would otherwise replace each other.
  if (action === "rollback") throw new NoRollbackTarget("it is a rollback itself.");
  const serves = ({ contents: other }: Release) => servesSameModels(other?.deployments ?? [], before);
  const deployments = (contents?.deployments ?? []).flatMap(({ name, projectId, qps }) => {
    const former = before.find((served) => served.name === name);
    return former ? [{ ...former, projectId, qps }] : [];
  });
  if (deployments.length === 0) throw new NoRollbackTarget("there were no models before it.");
  const known = releases.findLast((one) => one.status === "done" && one.id !== entry.id && serves(one));
  const target = known ?? { ...entry, contents: contents && { ...contents, deployments } };
  const missing = await findMissingModels(open, resources, target);
  if (missing.length === 0) return target;
  throw new NoRollbackTarget(`models were deleted: ${missing.join(", ")}. ${retainHint}`);
}

/** Finds the target release and checks that its models still exist. */
async function findTarget(
  open: OpenStack,
  resources: readonly StateResource[],
  releases: readonly Release[],
  before: readonly Served[],
  to: string | undefined,
): Promise<Release> {
  const live = before.map(({ name }) => name);
  const usable = releases.filter(
    ({ status, contents }) =>
      status === "done" && contents?.deployments.some(({ name }) => live.includes(name)),
  );
  const missingModels = (release: Release) => findMissingModels(open, resources, release);
  if (to !== undefined) {
    const release = usable.find(({ id }) => id === to);
    if (!release) {
      const exists = releases.some(({ id }) => id === to);
      const why = exists
        ? `it did not succeed, or none of its deployments is live in ${open.name}`
        : "there is no such release";
      throw new Error(`--to ${to}: ${why}. Known: ${usable.map(({ id }) => id).join(", ") || "none"}.`);
    }
    const missing = await missingModels(release);
    if (missing.length === 0) return release;
    throw new Error(
      `Cannot roll back to ${to}, because models were deleted: ${missing.join(", ")}. ${retainHint}`,
    );
  }
  const isLive = ({ contents }: Release) => servesSameModels(contents?.deployments ?? [], before);
  const firstLive = usable.findIndex(isLive);
  const older = usable.slice(0, firstLive < 0 ? usable.length : firstLive).reverse();
  const rejected: string[] = [];
  for (const release of older.filter((one) => !isLive(one))) {
    const missing = await missingModels(release);
    if (missing.length === 0) return release;
    rejected.push(`${release.id} (deleted models: ${missing.join(", ")})`);
  }
  const why =
    rejected.length > 0 ? `: ${rejected.join("; ")}. ${retainHint}` : ": the history has no other release.";
  throw new NoRollbackTarget(`${open.name} has no earlier release to roll back to${why}`);
}

/** Returns the ids of a release's models that no longer exist in the service of their deployment. */
async function findMissingModels(
  open: OpenStack,
  resources: readonly StateResource[],
  { contents }: Release,
): Promise<string[]> {
  const missing: string[] = [];
  for (const { name, projectId, generator, ranker } of contents?.deployments ?? []) {
    const resource = resourcesOf(resources, "Deployment").find(({ urn }) => logicalName(urn) === name);
    await open.withClient(
      async (client) => {
        for (const { modelId } of ranker ? [generator, ranker] : [generator])
          if (!(await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }))))
            missing.push(modelId);
      },
      resource && providerSettings(resource, resources, open),
    );
  }
  return missing;
}

/** Returns the deployments and their jobs, the only resources that a rollback may change. */
function deploymentUrns(resources: readonly StateResource[]): string[] {
  const deployments = resourcesOf(resources, "Deployment");
  const names = deployments.map(({ urn }) => logicalName(urn));
  const jobs = resourcesOf(resources, "DeploymentJob").filter((job) => names.includes(logicalName(job.urn)));
  return [...deployments, ...jobs].map(({ urn }) => urn);
}
