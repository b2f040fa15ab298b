import { isInDoubt, type UploadHistory } from "../../records/skip-mode";
import { UploadJournal } from "../../records/upload-journal";
import type { StoredResource } from "../lifecycle/definition";
import { serviceProperties } from "../lifecycle/location";
import type { Urn } from "../run/engine";
import type { Run } from "../run/session";
import type { Properties } from "../run/state-entry";
import { canonicalUrn } from "../run/urn";

/** Names the source of a resource in the upload journal, whichever binding runs it. */
export function uploadOwner(urn: Urn): string | undefined {
  return urn && canonicalUrn(urn);
}

/** Uploads of a resource that killed runs began and that the state does not hold. */
export interface KilledUploads {
  /** Those that may have written after the upload in the state. */
  readonly unrecorded: NonNullable<UploadHistory["unrecorded"]>;
  /** Contents of all first uploads among them and before them, which an upload that begins now supersedes. */
  readonly first: readonly string[];
}

/** Looks up which uploads of a resource were killed. `superseded` is what the last upload has recorded as such. */
export async function killedUploads(
  run: Run,
  urn: Urn,
  superseded: readonly string[] = [],
): Promise<KilledUploads> {
  const pending = await run.pending.of(urn);
  if (!pending) return { unrecorded: "unknown", first: superseded };
  const all = pending.map(({ inputs, isCreate }) => {
    // A secret hash is an object here.
    const contentHash = typeof inputs.contentHash === "string" ? inputs.contentHash : "";
    return { contentHash, isFirst: isCreate };
  });
  const earlier = [...superseded];
  const unrecorded = all.filter(({ contentHash, isFirst }) => {
    const at = isFirst ? earlier.indexOf(contentHash) : -1;
    if (at >= 0) earlier.splice(at, 1);
    return at < 0;
  });
  return { unrecorded, first: all.flatMap(({ contentHash, isFirst }) => (isFirst ? [contentHash] : [])) };
}

const unfinished =
  "an earlier upload did not finish; it may have replaced some records, so they are sent again";
const unreadableState =
  "`pulumi stack export` cannot read the state of this stack, which shows whether an upload was killed; " +
  "the records are sent again in case one was";

/**
 * The properties that mark a row as unsettled, because the dataset may hold something other than the state says; undefined
 * if the row is settled. A failed upload has marked the state. A killed one has left a note of the engine in the state,
 * which every machine can read, and a journal on its own machine.
 */
export async function unsettledProperties(
  state: Properties,
  { id, urn, run, settings }: StoredResource,
): Promise<Properties | undefined> {
  const { __upload: recorded, __partial, __superseded } = state;
  const { finished, open } = new UploadJournal({
    service: serviceOf(settings),
    datasetId: id,
    source: uploadOwner(urn) ?? "",
  });
  const { unrecorded } = await killedUploads(run, urn, __superseded);
  const isDoubtful = __partial === true || isInDoubt({ recorded, unrecorded, finished, open });
  if (!isDoubtful) return undefined;
  await run.warnOnce(urn, unrecorded === "unknown" ? unreadableState : unfinished);
  return { __partial: true, __upload: "" };
}

/** What a client of these settings calls its service; no connection is needed to know it. */
function serviceOf(settings: StoredResource["settings"]): string {
  const { __instance } = serviceProperties(settings);
  return __instance ? `embedded:${__instance}` : settings.baseUrl.replace(/\/+$/, "");
}
