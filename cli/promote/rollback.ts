import { undefinedIfMissing } from "../../client/error-meaning";
import type { Settings } from "../../client/settings";
import { routes } from "../../contract";
import { type Pinned, pinnedModelsKey, readPinned } from "../../provider/run/pinned";
import { logicalName } from "../../provider/run/urn";
import { resourcesOf, servedModels, servesSameModels } from "../release/contents";
import { startEntry } from "../release/evidence";
import { type Contents, type Release, ReleaseFile, type Served } from "../release/history";
import { OpenStack, type StateResource } from "../stack/open";
import { readProgramState } from "../stack/program";
import { providerSettings } from "../stack/providers";
import { applyChange } from "./apply";
import { withRecordedQuality } from "./promotion";

/** What a stack is to go back to. */
export interface RollbackRequest {
  readonly cwd: string;
  readonly stack: string;
  readonly releases: string;
  /** A release of the history; the newest one that served other models and is older, unless given. */
  readonly to?: string;
  /** Whether what the program declares is to serve again. */
  readonly undo: boolean;
  /** Whether it only reports what would be done. */
  readonly preview: boolean;
  readonly log: (message: string) => void;
}

/** What a rollback came to. */
export interface Rollback {
  readonly stack: string;
  /** The release that was gone back to; absent when the program decides again. */
  readonly to?: string;
  readonly before: readonly Served[];
  readonly after: Contents["deployments"];
  readonly release?: Release;
}

/**
 * Has a stack serve models of an earlier release, without training.
 * They are pinned in the configuration of the stack, so that program, state and service agree: the next update keeps
 * them, and says so.
 */
export async function rollBack(request: RollbackRequest): Promise<Rollback> {
  const { cwd, stack, releases, log } = request;
  const open = await OpenStack.open({ cwd, stack });
  const file = await ReleaseFile.open(releases, { project: open.project, stack });
  const { resources } = await open.state();
  const { resumed, to } = resume(file.interrupted, request);
  const before = resumed?.before ?? withRecordedQuality(servedModels(resources), file.releases);
  const pinned = readPinned((await open.config())(pinnedModelsKey));
  if (request.undo && !resumed && Object.keys(pinned).length === 0) {
    throw new Error(`${stack} is not rolled back: there is nothing to undo`);
  }
  const target = request.undo ? undefined : await targetOf(open, resources, file, before, to);
  const after = target?.contents?.deployments ?? [];
  const planned = { stack, before, after, ...(target && { to: target.id }) };
  if (request.preview) return planned;

  const begun: Omit<Release, "id"> = {
    ...{ action: "rollback", status: "running" },
    ...startEntry(open, await readProgramState(cwd, releases)),
    ...(resumed && { beganAt: resumed.beganAt }),
    ...(target && { from: { stack, release: target.id } }),
    before,
  };
  const entry = resumed ? { ...begun, id: resumed.id } : await file.add(begun);
  log(
    `Deploying ${target ? `the models of ${target.id}` : "what the program declares"} in ${stack} as ${entry.id} …`,
  );
  const release = await applyChange({
    ...{ open, file, entry },
    lockPolicy: { wait: resumed !== undefined, log },
    target: targetsIn(resources),
    pinned: Object.fromEntries(after.map((served) => [served.name, pinOf(served)])),
  });
  return { ...planned, after: release.contents?.deployments ?? [], release };
}

/** A rollback that was interrupted goes on to where it was going: what serves now may be its own doing. */
function resume(
  interrupted: Release | undefined,
  { to, undo }: RollbackRequest,
): { resumed?: Release; to: string | undefined } {
  if (interrupted?.action !== "rollback") return { to };
  const target = interrupted.from?.release;
  const same = undo ? target === undefined : target !== undefined && (to ?? target) === target;
  return same ? { resumed: interrupted, to: target } : { to };
}

/** The release to go back to, once it is known that its models are there. */
async function targetOf(
  open: OpenStack,
  resources: readonly StateResource[],
  { releases }: ReleaseFile,
  before: readonly Served[],
  wanted: string | undefined,
): Promise<Release> {
  const stack = open.name;
  const now = before.map(({ name }) => name);
  const usable = (release: Release) =>
    release.status === "done" && release.contents?.deployments.some(({ name }) => now.includes(name));
  const missing = async (release: Release): Promise<string[]> => {
    const absent: string[] = [];
    for (const { name, projectId, generator, ranker } of release.contents?.deployments ?? []) {
      const models = [generator, ...(ranker ? [ranker] : [])];
      await open.withClient(
        async (client) => {
          for (const { modelId } of models) {
            if (!(await undefinedIfMissing(client.call(routes.getModel, { projectId, modelId }))))
              absent.push(modelId);
          }
        },
        serviceOf(open, resources, name),
      );
    }
    return absent;
  };
  const keep = "The option `retainOnDelete` of a Model keeps former models for a rollback.";

  if (wanted !== undefined) {
    const release = releases.find(({ id }) => id === wanted);
    const known = releases.filter(usable).map(({ id }) => id);
    if (!release || !usable(release)) {
      const why = release ? `nothing of ${stack} was served by it` : "there is no such release";
      throw new Error(`--to ${wanted}: ${why}. Known: ${known.join(", ") || "none"}.`);
    }
    const absent = await missing(release);
    if (absent.length > 0) {
      throw new Error(
        `${wanted} cannot be gone back to: ${absent.join(", ")} is gone from the service. ${keep}`,
      );
    }
    return release;
  }
  const served = ({ contents }: Release) => contents?.deployments ?? [];
  const first = releases.findIndex((release) => usable(release) && servesSameModels(served(release), before));
  const older = releases
    .slice(0, first < 0 ? releases.length : first)
    .filter(usable)
    .reverse();
  const others = older.filter((release) => !servesSameModels(served(release), before));
  const looked: string[] = [];
  for (const release of others) {
    const absent = await missing(release);
    if (absent.length === 0) return release;
    looked.push(`${release.id} (${absent.join(", ")} is gone from the service)`);
  }
  const which = looked.length > 0 ? `: ${looked.join("; ")}. ${keep}` : ": the history holds none.";
  throw new Error(`There is no earlier release of ${stack} to go back to${which}`);
}

/** The service of a deployment: that of its provider in the program, or else of the stack. */
function serviceOf(open: OpenStack, resources: readonly StateResource[], name: string): Settings | undefined {
  const resource = resourcesOf(resources, "Deployment").find(({ urn }) => logicalName(urn) === name);
  return resource && providerSettings(resource, resources, open);
}

function pinOf({ generator, ranker }: Served): Pinned {
  return { generatorModelId: generator.modelId, ...(ranker && { rankerModelId: ranker.modelId }) };
}

/** Nothing but the deployments may change: a rollback trains nothing and loads nothing. */
function targetsIn(resources: readonly StateResource[]): string[] {
  const deployments = resourcesOf(resources, "Deployment");
  const names = deployments.map(({ urn }) => logicalName(urn));
  const jobs = resourcesOf(resources, "DeploymentJob").filter((job) => names.includes(logicalName(job.urn)));
  return [...deployments, ...jobs].map(({ urn }) => urn);
}
