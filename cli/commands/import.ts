import { basename, resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import type { Uploaded } from "../../records/upload-order";
import { dryRun } from "../records/dry-run";
import { type ImportOptions, mappingFlags, planImport, type RecordKindName } from "../records/import-plan";
import { type OpenService, settingsOf, usingService, withService } from "../stack/service";
import { CommandError, exitCodes, onInterrupt } from "../terminal/exit";
import { commaSeparated, keyValue, wholeNumber } from "../terminal/option-values";
import { formatCount, formatDuration, formatNumber, note, print, withJsonErrors } from "../terminal/output";
import { importProgress } from "../terminal/progress";

const datasetTypes = { users: "UserDataset", items: "ItemDataset", events: "EventDataset" };

const help = `
Columns that are no fields become attributes. An event without an id gets one of
its user, item and ts. A ts may be an ISO date (UTC where it names no zone),
seconds or milliseconds: a number below 100,000,000,000 is seconds, from there
on it is milliseconds. --ts-unit says otherwise. Without it a number is refused
that would be after 2100, or that reads as a date, as 20250131 does.

An import that was interrupted continues where it was, one of an unchanged
source makes no call, and one of a changed source sends only the batches that
changed. If another command of this machine has written to the dataset since
(another import, events prune, events forget-user), the import sends everything.
--force always does. After 1,000 refused records more than
--max-failures allows for the import stops.

--dry-run needs neither service nor dataset: it reads the source and shows its
columns, the fields that they would be, what would be refused and why, and the
times of the first and the last event.

Exit codes:
  0  all records are in the dataset (or as many as --max-failures allows for)
  1  the import failed; run the same command again to continue
  2  more records were refused than --max-failures allows for; they are in the
     file of rejects with the reasons, the others are in the dataset

Examples:
  recommender import users users.csv --dataset ID --map userId=customer
  recommender import events 'logs/*.ndjson.gz' --dataset ID \\
    --map ts=time --set eventType=purchase
  recommender import items items.parquet --stack dev --attributes genre,year
  recommender import events orders.csv --dry-run`;

/** Adds `recommender import`. */
export function addImport(program: Command): void {
  withService(program.command("import").description("Import records from a file or a glob into a dataset."))
    .addArgument(new Argument("<kind>", "what the records are").choices(["users", "items", "events"]))
    .argument("<source>", "a file or a glob in quotes: NDJSON, JSON, CSV or Parquet, plain or gzip")
    .option("--dataset <id>", "dataset to import into; with --stack its name, or the only one")
    .addOption(
      new Option("--format <name>", "format of the files; taken from their extensions unless given").choices([
        "ndjson",
        "json",
        "csv",
        "parquet",
      ]),
    )
    .option(
      "--map <field=column>",
      "column of a field, as in ts=time; may be repeated",
      keyValue("field=column"),
    )
    .option(
      "--set <field=value>",
      "value of a field for all records; may be repeated",
      keyValue("field=value"),
    )
    .option("--attributes <columns>", "columns to take as attributes, separated by commas", commaSeparated)
    .addOption(
      new Option("--ts-unit <unit>", "unit of a ts that is a number; by its size unless given").choices([
        "s",
        "ms",
        "us",
      ]),
    )
    .option("--parallel <number>", "calls under way at once", wholeNumber(1, 64), 8)
    .option("--max-failures <number>", "records that may be refused", wholeNumber(), 0)
    .option("--shards <number>", "shards of the dataset, to check first whether all will fit", wholeNumber(1))
    .option("--rejects <file>", "file for refused records; recommender-rejects-SOURCE.ndjson unless given")
    .option("--force", "send everything again")
    .option("--dry-run", "send nothing; show what the source holds and what would be refused")
    .addHelpText("after", help)
    .action((kind: RecordKindName, source: string, options: ImportOptions) =>
      withJsonErrors(options, async () =>
        options.dryRun
          ? dryRun(await planImport(await addressOf(options), kind, source, options), options)
          : usingService(options, (opened) => importRecords(opened, kind, source, options)),
      ),
    );
}

/** Whose limits a dry run shows; it asks for no credentials. */
async function addressOf(options: ImportOptions): Promise<string> {
  if (options.stack !== undefined) return (await settingsOf(options)).settings.baseUrl;
  return options.service ?? process.env.RECOMMENDER_BASE_URL ?? "embedded:";
}

type Outcome = Omit<Uploaded, "token">;

async function importRecords(
  { client, settings, resolveId }: OpenService,
  kindName: RecordKindName,
  source: string,
  options: ImportOptions,
): Promise<void> {
  const { assertColumns } = await import("../../records/columns.js");
  const { finishedUpload, upload } = await import("../../records/upload.js");
  const { LastWriter } = await import("../../records/last-writer.js");
  const { TooManyFailuresError } = await import("../../records/upload-order.js");
  const { contentHash } = await import("../../records/source.js");
  const { rejectsFileFor } = await import("../../records/rejects.js");
  const { shardsOf } = await import("../../records/capacity.js");

  const datasetId = resolveId(datasetTypes[kindName], options.dataset, "--dataset");
  const { kind, files, mapping } = await planImport(settings.baseUrl, kindName, source, options);
  for (const doubt of await assertColumns(files, kind, mapping, mappingFlags)) note(doubt);
  const hash = await contentHash(files, mapping);
  const owner = `${kindName} ${resolve(source)}`;
  const rejectsFile = options.rejects ?? rejectsFileFor(basename(source));
  const began = performance.now();
  const outcomeOf = ({ recordCount, failedCount, sentCount }: Outcome) => ({
    ...{ recordCount, failedCount, sentCount },
    contentHash: hash,
    seconds: Math.round(performance.now() - began) / 1000,
    ...(failedCount > 0 ? { rejectsFile } : {}),
  });
  const report = (uploaded: Outcome) => {
    const outcome = outcomeOf(uploaded);
    print(options, outcome, () => describe(kindName, datasetId, outcome));
    if (uploaded.failedCount > 0) note(`The refused records are in ${rejectsFile}`);
  };
  const finished = options.force ? undefined : finishedUpload(client, datasetId, owner);
  // Records that were refused before are looked at again: how many may be is a question of this command, not of that.
  if (finished?.contentHash === hash && finished.totals.failedCount === 0)
    return report({ ...finished.totals, sentCount: 0 });
  const progress = importProgress(options);
  let next = options.force ? "run it without --force to continue" : "the same command continues";
  next += " where it was.";
  const callOff = onInterrupt(() => {
    progress.end();
    note(`Interrupted; ${next}`);
  });
  try {
    const uploaded = await upload({
      ...{ client, kind, datasetId, files, mapping, owner, rejectsFile },
      contentHash: hash,
      parallel: options.parallel,
      maxFailures: options.maxFailures,
      maxFailuresName: "--max-failures",
      numShards: options.shards ?? (await shardsOf(kind, datasetId, client)),
      evidence: { recorded: new LastWriter(client, datasetId).token },
      force: options.force ?? false,
      onProgress: progress.update,
      onUnresumable: (message) => {
        next = "the next import starts over.";
        note(message);
      },
      onHint: (message) => {
        progress.end();
        note(message);
      },
    });
    progress.end();
    report(uploaded);
  } catch (error) {
    progress.end();
    if (!(error instanceof TooManyFailuresError)) throw error;
    throw new CommandError(error.message, exitCodes.rejected, outcomeOf(error.uploaded));
  } finally {
    callOff();
  }
}

function describe(
  kind: string,
  datasetId: string,
  of: Record<"recordCount" | "failedCount" | "sentCount" | "seconds", number>,
): string {
  const noun = kind.slice(0, -1);
  const { recordCount, failedCount, sentCount, seconds } = of;
  const there = recordCount - sentCount;
  const took = seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
  const rate = `${formatNumber(sentCount / Math.max(seconds, 0.001))} per second`;
  if (recordCount + failedCount === 0) return `The source holds no ${kind}\n`;
  const lines =
    sentCount === 0
      ? [`Nothing to do: ${formatCount(recordCount, noun)} of this source in ${datasetId} already`]
      : [`Imported ${formatCount(sentCount, noun)} into ${datasetId}`, `in ${took}, ${rate}`];
  if (sentCount > 0 && there > 0) lines.push(`${formatCount(there, noun)} of the source were there already`);
  if (failedCount > 0) lines.push(`${formatCount(failedCount, "record")} refused`);
  return `${lines.join("\n")}\n`;
}
