import { fileURLToPath } from "node:url";
import { z } from "zod";
import { assertColumns } from "../../records/columns";
import { findEventType, type TypeSearch } from "../../records/event-types";
import { type Format, formats } from "../../records/formats/format";
import { inlineText, storeInline } from "../../records/inline";
import type { RecordKind } from "../../records/kind";
import { mappingSchema } from "../../records/mapping/mapping";
import { rejectsFileFor } from "../../records/rejects";
import { assertRejectsFile } from "../../records/rejects-file";
import { contentHash, findFiles, type SourceFile, unreadable } from "../../records/source";
import { containsUnknown } from "../lifecycle/arguments";
import type { Declaration } from "../lifecycle/definition";
import type { Urn } from "../run/engine";
import { isSecret } from "../run/secrecy";
import type { Run } from "../run/session";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";
import { logicalName, partsOf, titleOf } from "../run/urn";

/** The form of files. */
export const format = z.enum(formats, { error: `expected one of ${formats.join(", ")}` }).optional();

/**
 * The arguments as they enter the state: in place of the content its hash, so that a preview sees a change of the files
 * and so do those who depend on it. What cannot be read is reported with the other faults.
 */
export async function resolveSource(
  kind: RecordKind,
  given: Properties,
  { urn, run }: Declaration,
): Promise<Properties> {
  if (containsUnknown([given.source, given.format, given.mapping])) {
    declareEvents(given, urn, run, () => Promise.reject(new Error("the source is not known yet")));
    return { ...given, source: unknownValue, contentHash: unknownValue };
  }
  await run.pending.load(urn);
  const reading = z.object({ format, mapping: mappingSchema(kind).default({}) }).safeParse(given);
  // Their faults are reported by themselves.
  if (!reading.success) return { ...given, source: "not read", contentHash: "" };
  const { mapping } = reading.data;
  try {
    const source = sourceOf(given.source, reading.data.format);
    const found = findFiles(source, reading.data.format);
    declareEvents(given, urn, run, async (eventType) => findEventType(await found, mapping, eventType));
    const files = await found;
    const { rejectsFile = rejectsFileFor(logicalName(urn)) } = given;
    if (typeof rejectsFile === "string") await assertRejectsFile(rejectsFile, files);
    const doubts = await assertColumns(files, kind, mapping, remedy);
    for (const doubt of doubts) await run.warnOnce(urn, doubt);
    const hash = await contentHash(files, mapping);
    run.sourceNames.set(hash, sourceText(urn, files));
    return { ...given, source, contentHash: hash };
  } catch (error) {
    return { ...given, source: unreadable + (error as Error).message, contentHash: "" };
  }
}

/** A source as messages name it: its resource, and its files unless they are secret. */
function sourceText(urn: Urn, files: readonly SourceFile[]): string {
  const title = titleOf(partsOf(urn));
  if (isSecret("source")) return title;
  const [first] = files;
  return `${title} (${files.length === 1 && first ? first.displayName : `${files.length} files`})`;
}

/** Lets a training that the run submits look into a source before it is uploaded. */
function declareEvents(
  { eventDatasetId }: Properties,
  urn: Urn,
  { trainingData }: Run,
  search: (eventType: string) => Promise<TypeSearch>,
): void {
  if (typeof eventDatasetId !== "string") return;
  trainingData.declareSource(urn, { eventDatasetId, mayShowTypes: !isSecret("source"), search });
}

/** An asset as the protocol has it. */
interface Asset {
  readonly path?: string;
  readonly text?: string;
  readonly uri?: string;
}

/** Records as the program hands them over. */
interface Ndjson {
  readonly ndjson?: string;
}

/** A file, a glob, or what stands for records that the program holds. */
function sourceOf(source: unknown, format: Format | undefined): string {
  if (typeof source === "string") return pathOf(source);
  if (Array.isArray(source)) return storeInline(Buffer.from(inlineText(source)));
  const { ndjson, path, uri, text } = (source ?? {}) as Asset & Ndjson;
  if (ndjson !== undefined) return storeInline(Buffer.from(ndjson));
  if (path !== undefined || uri !== undefined) return pathOf(path ?? uri ?? "");
  if (text === undefined)
    throw new Error("expected a file, a glob, a FileAsset, a StringAsset or the records themselves");
  if (format && format !== "parquet") return storeInline(Buffer.from(text), format);
  throw new Error("the form of a StringAsset is not known: set format to ndjson, json or csv");
}

function pathOf(place: string): string {
  if (place.startsWith("file://")) return fileURLToPath(place);
  if (!/^\w{2,}:\/\//.test(place)) return place;
  throw new Error(`${place}: download it and name the file; only files of this machine are read`);
}

function remedy(fields: readonly string[]): string {
  const mapped = fields.map((field) =>
    field === "attributes" ? 'attributes: ["COLUMN"]' : `${field}: "COLUMN"`,
  );
  return `mapping: { ${mapped.join(", ")} }`;
}
