import { canonicalAddress } from "../../client/address";
import { undefinedIfMissing } from "../../client/error-meaning";
import { isOffered } from "../../client/extensions";
import { routes } from "../../contract";
import { parseUpload } from "../../contract/upload";
import { isInDoubt, type UploadHistory } from "../../records/skip-mode";
import { UploadJournal } from "../../records/upload-journal";
import type { StoredResource } from "../lifecycle/definition";
import { serviceProperties } from "../lifecycle/location";
import type { Urn } from "../run/engine";
import { contentHashOf } from "../run/initial-state";
import { openSession, type Run } from "../run/session";
import type { Properties } from "../run/state-entry";
import { canonicalUrn } from "../run/urn";

/** Returns the id of a source in the upload journal. It is the same for both bindings. */
export function uploadOwner(urn: Urn): string | undefined {
  return urn && canonicalUrn(urn);
}

/** Uploads that were killed, according to the engine's notes. */
export interface KilledUploads {
  /** Killed uploads that may have written records after the upload in the state. */
  readonly unrecorded: NonNullable<UploadHistory["unrecorded"]>;
  /** Content hashes of all first uploads that were killed. The next upload replaces them. */
  readonly first: readonly string[];
}

/**
 * Returns the killed uploads of a resource. `superseded` contains the content hashes of killed first uploads that the
 * last upload has superseded.
 */
export async function killedUploads(
  run: Run,
  urn: Urn,
  superseded: readonly string[] = [],
): Promise<KilledUploads> {
  const pending = await run.initial.pendingOf(urn);
  if (!pending) return { unrecorded: "unknown", first: superseded };
  const all = pending.map((operation) => ({
    contentHash: contentHashOf(operation),
    isFirst: operation.isCreate,
  }));
  const earlier = [...superseded];
  const unrecorded = all.filter(({ contentHash, isFirst }) => {
    const at = isFirst ? earlier.indexOf(contentHash) : -1;
    if (at >= 0) earlier.splice(at, 1);
    return at < 0;
  });
  return { unrecorded, first: all.flatMap(({ contentHash, isFirst }) => (isFirst ? [contentHash] : [])) };
}

const unfinished =
  "an earlier upload did not finish; it may have replaced some records, so all are uploaded again";
const unreadableState =
  "`pulumi stack export` cannot read the state of this stack, so it is unknown whether an upload was killed; " +
  "the records are uploaded again";

/**
 * Returns the properties that mark the state as unsettled if the dataset may differ from it. After a failed upload, the
 * state itself shows this. After a killed upload, the engine's note in the state and the journal of that machine show
 * it. Each machine that has seen the engine's note keeps a copy. The upload also runs again if the program now allows
 * fewer rejected records than there were.
 */
export async function unsettledProperties(
  state: Properties,
  { id, urn, run, settings }: StoredResource,
  declared?: Properties,
): Promise<Properties | undefined> {
  const { __upload: recorded, __partial, __superseded } = state;
  const { finished, open } = journalOf({ id, urn, settings });
  const { unrecorded } = await killedUploads(run, urn, __superseded);
  const mayDiffer =
    __partial === true ||
    isInDoubt({ recorded, unrecorded, finished, open }) ||
    (await laterUploads(recorded, { id, urn, settings })).length > 0;
  if (!mayDiffer) return hasTooManyRejects(state, declared) ? {} : undefined;
  await run.warnOnce(urn, unrecorded === "unknown" ? unreadableState : unfinished);
  return { __partial: true, __upload: "" };
}

function hasTooManyRejects({ failedCount }: Properties, declared: Properties = {}): boolean {
  const { maxFailures } = declared;
  return typeof failedCount === "number" && typeof maxFailures === "number" && failedCount > maxFailures;
}

/**
 * Returns the tokens of later uploads of the same resource, on any machine, that followed the recorded one. Only the
 * service of this package knows them. Uploads of other resources and imports do not count: two sources with the same
 * ids would otherwise replace each other's records in every run. Throws if the service does not respond, because the
 * records may differ.
 */
async function laterUploads(
  recorded: string | undefined,
  { id: datasetId, urn, settings }: UploadTarget,
): Promise<string[]> {
  if (!recorded) return [];
  const { client } = await openSession(settings, urn);
  if (!(await isOffered(client, routes.countDatasetRecords))) return [];
  const counted = await undefinedIfMissing(client.call(routes.countDatasetRecords, { datasetId }));
  // The dataset was deleted. A new dataset with the same id would be empty.
  if (!counted) return ["deleted"];
  const uploads = (counted.lastUploads ?? []).flatMap((text) => parseUpload(text) ?? []);
  return uploads.flatMap(({ basis, token }) => (basis === recorded && token !== recorded ? [token] : []));
}

/**
 * Whether another machine has begun an upload after the recorded one, which the journal of this machine does not
 * contain.
 */
export async function isReplacedElsewhere(
  recorded: string | undefined,
  target: UploadTarget,
): Promise<boolean> {
  const { finished, open } = journalOf(target);
  const own = [finished?.token, open?.token];
  return (await laterUploads(recorded, target)).some((token) => !own.includes(token));
}

/** Dataset and resource of an upload. */
type UploadTarget = Pick<StoredResource, "id" | "urn" | "settings">;

function journalOf({ id: datasetId, urn, settings }: UploadTarget): UploadJournal {
  return new UploadJournal({ service: serviceOf(settings), datasetId, source: uploadOwner(urn) ?? "" });
}

/** Returns the id of the service in the upload journal. Needs no connection. */
function serviceOf(settings: StoredResource["settings"]): string {
  const { __instance } = serviceProperties(settings);
  return __instance ? `embedded:${__instance}` : canonicalAddress(settings.baseUrl);
}
