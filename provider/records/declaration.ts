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
import { withoutAddress } from "../../records/sources/address";
import { keepCopy } from "../../records/sources/copies";
import { currentVersionKey, versionKey, versionProof } from "../../records/sources/version-key";
import { containsUnknown } from "../lifecycle/arguments";
import type { Declaration } from "../lifecycle/definition";
import type { Urn } from "../run/engine";
import { isSecret } from "../run/secrecy";
import type { Run } from "../run/session";
import type { Properties } from "../run/state-entry";
import { unknownValue } from "../run/unknown-value";
import { logicalName, partsOf, titleOf } from "../run/urn";

/** Format of the source files. */
export const format = z.enum(formats, { error: `expected one of ${formats.join(", ")}` }).optional();

/**
 * Replaces inline records with a reference and adds the content hash, so a preview detects changed files. If the source
 * cannot be read, `source` contains the error, which validation then reports.
 */
export async function resolveSource(
  kind: RecordKind,
  { __sourceVersion: _, ...given }: Properties,
  { urn, run }: Declaration,
  olds: Properties,
): Promise<Properties> {
  if (containsUnknown([given.source, given.format, given.mapping])) {
    declareEvents(given, urn, run, () => Promise.reject(new Error("the source is not known yet")));
    return { ...given, source: unknownValue, contentHash: unknownValue };
  }
  await run.initial.load({ urn: urn ?? "" });
  const reading = z.object({ format, mapping: mappingSchema(kind).default({}) }).safeParse(given);
  // Validation reports schema faults of `format` and `mapping`.
  if (!reading.success) return { ...given, source: "not read", contentHash: "" };
  const { mapping } = reading.data;
  try {
    const source = sourceOf(given.source, reading.data.format);
    const how = { source, format: reading.data.format, mapping };
    const known = await unchangedHash(how, olds);
    if (known !== undefined) {
      const search = async (eventType: string) =>
        findEventType(await findFiles(source, how.format), mapping, eventType);
      declareEvents(given, urn, run, search);
      return { ...given, source, contentHash: known, __sourceVersion: olds.__sourceVersion };
    }
    const found = findFiles(source, reading.data.format);
    declareEvents(given, urn, run, async (eventType) => findEventType(await found, mapping, eventType));
    const files = await found;
    const { rejectsFile = rejectsFileFor(logicalName(urn)) } = given;
    if (typeof rejectsFile === "string") await assertRejectsFile(rejectsFile, files);
    const warnings = await assertColumns(files, kind, mapping, remedy);
    for (const warning of warnings) await run.warnOnce(urn, warning);
    const hash = await contentHash(files, mapping);
    run.sourceNames.set(hash, sourceText(urn, files));
    keepCopy(hash, files);
    const __sourceVersion = versionProof(versionKey(how, files[0]?.remoteVersion), hash);
    // A secret address is not stored, even as a hash.
    const isStored = __sourceVersion !== undefined && !isSecret("source");
    return { ...given, source, contentHash: hash, ...(isStored && { __sourceVersion }) };
  } catch (error) {
    const { message } = error as Error;
    const { uri = "" } = Object(given.source) as Asset;
    const address = typeof given.source === "string" ? given.source : uri;
    const shown = isSecret("source") ? withoutAddress(message, address) : message;
    return { ...given, source: unreadable + shown, contentHash: "" };
  }
}

/** Returns the content hash in the state if the server of a remote source confirms that its content is the same. */
async function unchangedHash(
  how: Parameters<typeof currentVersionKey>[0],
  { __sourceVersion, contentHash }: Properties,
): Promise<string | undefined> {
  if (__sourceVersion === undefined || typeof contentHash !== "string") return undefined;
  const proof = versionProof(await currentVersionKey(how), contentHash);
  return proof === __sourceVersion ? contentHash : undefined;
}

/** Describes a source for messages: its resource, and its files unless they are secret. */
function sourceText(urn: Urn, files: readonly SourceFile[]): string {
  const title = titleOf(partsOf(urn));
  if (isSecret("source")) return title;
  const [first] = files;
  return `${title} (${files.length === 1 && first ? first.displayName : `${files.length} files`})`;
}

/**
 * Registers a source of events, so a preview can check whether it contains events of the type that a project optimises
 * for.
 */
function declareEvents(
  { eventDatasetId }: Properties,
  urn: Urn,
  { trainingData }: Run,
  search: (eventType: string) => Promise<TypeSearch>,
): void {
  if (typeof eventDatasetId !== "string") return;
  trainingData.declareSource(urn, { eventDatasetId, mayShowTypes: !isSecret("source"), search });
}

/** Asset in Pulumi's protocol. */
interface Asset {
  readonly path?: string;
  readonly text?: string;
  readonly uri?: string;
}

/** Inline records of the program. */
interface Ndjson {
  readonly ndjson?: string;
}

/** Returns the path or glob of a source, or a reference to inline records. */
function sourceOf(source: unknown, format: Format | undefined): string {
  if (typeof source === "string") return pathOf(source);
  if (Array.isArray(source)) return storeInline(Buffer.from(inlineText(source)));
  const { ndjson, path, uri, text } = (source ?? {}) as Asset & Ndjson;
  if (ndjson !== undefined) return storeInline(Buffer.from(ndjson));
  if (path !== undefined || uri !== undefined) return pathOf(path ?? uri ?? "");
  if (text === undefined)
    throw new Error("expected a file, a glob, an address, an asset or an array of records");
  if (format && format !== "parquet") return storeInline(Buffer.from(text), format);
  throw new Error("a StringAsset needs a text format: set format to ndjson, json or csv");
}

function pathOf(url: string): string {
  if (url.startsWith("file://")) return fileURLToPath(url);
  return url;
}

function remedy(fields: readonly string[]): string {
  const mapped = fields.map((field) =>
    field === "attributes" ? 'attributes: ["COLUMN"]' : `${field}: "COLUMN"`,
  );
  return `mapping: { ${mapped.join(", ")} }`;
}
