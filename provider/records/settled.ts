import { isUnsettled } from "../../records/trust";
import { UploadJournal } from "../../records/upload-journal";
import { serviceMark } from "../lifecycle/belonging";
import type { Stored } from "../lifecycle/noun";
import type { Urn } from "../run/engine";
import type { Properties } from "../run/row";
import type { Run } from "../run/session";
import { carriedUrn } from "../run/urn";

/** Names the source of a resource in the upload journal, whichever carrier runs it. */
export function ownerOf(urn: Urn): string | undefined {
  return urn && carriedUrn(urn);
}

/** The contents of uploads of a resource that a killed run began, as far as the state has them. */
export async function unrecordedContents(run: Run, urn: Urn): Promise<string[]> {
  const pending = await run.pending.of(urn);
  // A secret hash is an object here.
  return pending.map(({ contentHash }) => (typeof contentHash === "string" ? contentHash : ""));
}

/**
 * Whether the dataset may hold something other than the state says. An upload that failed has marked the state. One that
 * was killed has left a note of the engine in the state, which every machine can read, and a journal on its own machine.
 */
export async function isUnsettledRow(
  state: Properties,
  { id, urn, run, settings }: Stored,
): Promise<boolean> {
  const { __upload: recorded, __partial } = state;
  const { finished, open } = new UploadJournal({
    service: serviceOf(settings),
    datasetId: id,
    source: ownerOf(urn) ?? "",
  });
  const unrecorded = await unrecordedContents(run, urn);
  const isDoubtful = __partial === true || isUnsettled({ recorded, unrecorded, finished, open });
  if (isDoubtful)
    await run.warnOnce(
      urn,
      "an earlier upload did not finish; it may have replaced some records, so they are sent again",
    );
  return isDoubtful;
}

/** What a client of these settings calls its service; no connection is needed to know it. */
function serviceOf(settings: Stored["settings"]): string {
  const { __instance } = serviceMark(settings);
  return __instance ? `embedded:${__instance}` : settings.baseUrl.replace(/\/+$/, "");
}
