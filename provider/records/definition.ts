import { z } from "zod";
import { undefinedIfMissing } from "../../client/error-meaning";
import { routes } from "../../contract";
import { id } from "../../contract/field";
import { shardsOf } from "../../records/capacity";
import { isInline, readInline } from "../../records/inline";
import { type RecordKind, recordKindAt } from "../../records/kind";
import { type Mapping, mappingSchema } from "../../records/mapping/mapping";
import { generalised, rejectsFileFor } from "../../records/rejects";
import { contentHash, findFiles, type SourceFile, unreadable } from "../../records/source";
import { withoutAddress } from "../../records/sources/address";
import { keptCopy } from "../../records/sources/copies";
import { upload } from "../../records/upload";
import { defaultParallel, type Progress } from "../../records/upload-options";
import type { ObjectSchema } from "../lifecycle/definition";
import { PartialStateError } from "../lifecycle/failure";
import { lifecycle } from "../lifecycle/lifecycle";
import type { Context } from "../run/context";
import { log } from "../run/engine";
import { masked } from "../run/masking";
import { isSecret, maskingSecrets } from "../run/secrecy";
import { format, resolveSource } from "./declaration";
import { isReplacedElsewhere, killedUploads, unsettledProperties, uploadOwner } from "./settled";

type DatasetKey = "userDatasetId" | "itemDatasetId" | "eventDatasetId";

const progressEveryMs = 1000;

const source = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    if (text.startsWith(unreadable)) context.addIssue(text.slice(unreadable.length));
  });

/** Arguments of records, without the id of the dataset. */
const recordsShape = {
  source,
  contentHash: z.string(),
  format,
  // The fields to map depend on the record kind.
  mapping: z.custom<Mapping>(),
  maxFailures: z.int().min(0).default(0),
  parallel: z.int().min(1).max(64).default(defaultParallel),
  numShards: z.int().min(1).optional(),
  rejectsFile: z.string().min(1).optional(),
};

const recordsOutputs = z.object({
  recordCount: z.int(),
  failedCount: z.int(),
  __upload: z.string().optional(),
  __superseded: z.array(z.string()).optional(),
});

type State = z.output<z.ZodObject<typeof recordsShape>>;
type Outputs = z.output<typeof recordsOutputs>;

/** Lifecycle of records from a source. They are uploaded again whenever their content changes. */
export function recordsLifecycle<Key extends DatasetKey>(type: string, kind: RecordKind, datasetKey: Key) {
  const mapping = mappingSchema(kind).default({});
  const args = z.strictObject({ [datasetKey]: id, ...recordsShape, mapping });
  return lifecycle({
    type,
    // The compiler cannot infer the type of a computed key.
    args: args as unknown as ObjectSchema<State & { readonly [K in DatasetKey]: string }>,
    outputs: recordsOutputs,
    replaceOn: [datasetKey],
    // The content hash decides whether to upload. A moved file has the same content.
    ignoreChanges: ["source", "maxFailures", "parallel", "numShards", "rejectsFile"],

    complete: (given, declaration, olds) => resolveSource(kind, given, declaration, olds),

    calls({ numShards }) {
      const reads = kind.type === "event" && numShards === undefined ? [routes.getEventDataset] : [];
      const uploads = [...reads, kind.route];
      return { create: uploads, update: uploads };
    },

    async create(args, context) {
      const datasetId = args[datasetKey];
      return { id: datasetId, ...(await uploadMasked(kind, datasetId, args, context)) };
    },

    readWith: routes.countDatasetRecords,

    /**
     * The API cannot read records, so a refresh keeps the state. The service of this package can count records: if the
     * dataset is empty, they are uploaded again.
     */
    async read(datasetId, state, { client, urn }) {
      const found = await undefinedIfMissing(client.call(routes.countDatasetRecords, { datasetId }));
      if (!found) return undefined;
      if (found.recordCount === 0 && state.recordCount > 0) {
        await log.warn(urn, `dataset ${datasetId} contains no ${kind.type}s, so they are uploaded again`);
        return undefined;
      }
      return state;
    },

    async update(datasetId, olds, news, context) {
      return uploadMasked(kind, datasetId, news, context, olds);
    },

    unsettled: unsettledProperties,

    async leave(datasetId, _state, { urn }) {
      const message =
        kind.type === "event"
          ? `The events are deleted with dataset ${datasetId}, not before.`
          : `The ${kind.type}s stay in dataset ${datasetId}: the API cannot delete them.`;
      await log.info(urn, message);
    },
  });
}

async function uploadMasked(...given: Parameters<typeof uploadRecords>): ReturnType<typeof uploadRecords> {
  const { source } = given[2];
  if (source === undefined) throw new Error("source is not known yet");
  // `source` is only a reference to inline records, so their content must be masked separately.
  const secrets = isSecret("source") && isInline(source) ? [{ source: readInline(source).toString() }] : [];
  return maskingSecrets(secrets, () => uploadRecords(...given));
}

async function uploadRecords(
  declared: RecordKind,
  datasetId: string,
  args: State,
  context: Context,
  olds: Pick<Outputs, "__upload" | "__superseded"> = {},
): Promise<Outputs> {
  const { client, urn, title, run, settings } = context;
  const kind = recordKindAt(settings.baseUrl, declared);
  const { mapping, maxFailures, parallel } = args;
  const files = withMaskedNames(keptCopy(args.contentHash) ?? (await foundFiles(args)));
  if ((await contentHash(files, mapping)) !== args.contentHash) {
    throw new Error("the source was changed since it was checked; run `pulumi up` again");
  }
  const name = title.slice(title.indexOf(" ") + 1);
  const rejectsFile = args.rejectsFile ?? rejectsFileFor(name);
  const { unrecorded, first } = await killedUploads(run, urn, olds.__superseded);
  // This machine's journal does not show which records another machine has uploaded.
  const isReplaced = await isReplacedElsewhere(olds.__upload, { id: datasetId, urn, settings });
  const superseding = first.length > 0 ? { __superseded: [...first] } : {};
  let begun: Outputs | undefined;
  let hasJournal = true;
  const report = progressReporter(context);
  const { recordCount, failedCount, sentCount, token } = await upload({
    client,
    kind,
    datasetId,
    files,
    mapping,
    maxFailures,
    parallel,
    rejectsFile,
    contentHash: args.contentHash,
    history: { recorded: olds.__upload, unrecorded: isReplaced ? "unknown" : unrecorded },
    isAnnounced: true,
    redact: isSecret("source") ? (reason) => generalised(masked(reason)) : undefined,
    owner: uploadOwner(urn) ?? title,
    numShards: args.numShards ?? (await shardsOf(kind, datasetId, client)),
    onSending: (token) => {
      // From now on, the upload's journal shows that the dataset may differ from the state, so the notes are obsolete.
      if (hasJournal) void run.initial.forgetPending(urn);
      begun = { recordCount: 0, failedCount: 0, __upload: token, ...superseding };
    },
    onProgress: (progress) => {
      const { recordCount, failedCount } = progress;
      if (begun) begun = { ...begun, recordCount, failedCount };
      report(progress);
    },
    onUnresumable: (message) => {
      hasJournal = false;
      void log.warn(urn, message);
    },
    onHint: (message) => void log.info(urn, message),
    signal: run.cancelled,
  }).catch((error) => {
    const stopped = "the upload was stopped; the next `pulumi up` resumes it.";
    const failure = run.cancelled.aborted ? new Error(stopped) : error;
    // After the first batch, the dataset differs from the state, so the error contains a new state.
    throw begun ? new PartialStateError(datasetId, { ...args, ...begun }, failure.message) : failure;
  });
  await run.initial.forgetPending(urn);
  const again = sentCount < recordCount ? ` (${formatCount(recordCount - sentCount)} of them before)` : "";
  await log.info(
    urn,
    `${formatCount(recordCount)} ${kind.type}${recordCount === 1 ? "" : "s"} uploaded${again}`,
  );
  if (failedCount > 0) await log.warn(urn, rejectedText(failedCount, rejectsFile));
  return { recordCount, failedCount, __upload: token, ...superseding };
}

async function foundFiles({ source, format }: State): Promise<readonly SourceFile[]> {
  return findFiles(source, format).catch((error: Error) => {
    throw isSecret("source") ? new Error(withoutAddress(error.message, source)) : error;
  });
}

/** Replaces secret file names with numbers, because names appear in messages and in the rejects file. */
function withMaskedNames(files: readonly SourceFile[]): readonly SourceFile[] {
  if (!isSecret("source")) return files;
  const named = (file: SourceFile, at: number) => ({ ...file, displayName: `file ${at + 1} of the source` });
  return files.map((file, at) => (file.content ? file : named(file, at)));
}

function progressReporter({ urn, clock }: Context): (progress: Progress) => void {
  let reportedAt = clock.now();
  return ({ recordCount, bytes, totalBytes }) => {
    if (clock.now() - reportedAt < progressEveryMs) return;
    reportedAt = clock.now();
    const share = Math.min(100, Math.floor((100 * bytes) / Math.max(1, totalBytes)));
    void log.progress(urn, `${formatCount(recordCount)} records, ${share} %`);
  };
}

function rejectedText(count: number, rejectsFile: string): string {
  const rejected = count === 1 ? "1 record was rejected" : `${formatCount(count)} records were rejected`;
  const condition = `if the source changes or maxFailures is below ${formatCount(count)}`;
  return `${rejected}; see ${rejectsFile}. The upload is repeated ${condition}.`;
}

function formatCount(count: number): string {
  return count.toLocaleString("en");
}
