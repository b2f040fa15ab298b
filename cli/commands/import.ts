import { Argument, type Command, Option } from "commander";
import type { UploadOptions, UploadResult } from "../../records/upload-options";
import { dryRun } from "../records/dry-run";
import { type ImportOptions, mappingFlags, planImport, type RecordKindName } from "../records/import-plan";
import { type OpenService, serviceCommand, settingsOf, usingService } from "../stack/service";
import { CommandError, exitCodes } from "../terminal/exit";
import { commaSeparated, keyValue, wholeNumber } from "../terminal/option-values";
import { formatCount, formatDuration, formatNumber, note, print, withJsonErrors } from "../terminal/output";
import { importProgress, withProgress } from "../terminal/progress";

const datasetTypes = { users: "UserDataset", items: "ItemDataset", events: "EventDataset" };

const help = `
Columns that are not fields become attributes. An event without an id gets one
from its user, item and ts. A ts is an ISO date (UTC unless it has a time zone)
or a number: below 100,000,000,000 seconds, otherwise milliseconds. --ts-unit
sets the unit. Without it, numbers after the year 2100 and numbers that look
like a date, such as 20250131, are rejected.

An interrupted import continues where it stopped. An unchanged source is not
sent again, and of a changed source only the changed batches. If another command
on this machine has written to the dataset since (another import, events prune,
events forget-user), all records are sent. --force always sends all records. The
import aborts after 1,000 rejected records beyond --max-failures.

--dry-run needs no service and no dataset. It reads the source and shows its
columns, how they map to fields, which records would be rejected and why, and
the times of the first and last event.

A source can also be an address. https:// uses a bearer token from
RECOMMENDER_SOURCE_TOKEN_HOST, s3:// the credentials of the AWS tools, and
postgres://user@host/database?query=SELECT... the password in PGPASSWORD.

Exit codes:
  0  all records are in the dataset, except up to --max-failures rejected ones
  1  the import failed; run the same command again to continue
  2  more records than --max-failures were rejected; they are in the rejects
     file with the reasons, and the other records are in the dataset

Examples:
  recommender import users users.csv --dataset ID --map userId=customer
  recommender import events 'logs/*.ndjson.gz' --dataset ID \\
    --map ts=time --set eventType=purchase
  recommender import items items.parquet --stack dev --attributes genre,year
  recommender import items s3://my-bucket/items.csv.gz --dataset ID
  recommender import events orders.csv --dry-run`;

const formats = ["ndjson", "json", "csv", "parquet"];

/** Adds `recommender import`. */
export function addImport(program: Command): void {
  serviceCommand(program, "import", "Import records from files, a web server, a bucket or a database.", help)
    .addArgument(new Argument("<kind>", "kind of records").choices(["users", "items", "events"]))
    .argument(
      "<source>",
      "file, quoted glob, https://, s3:// or postgres:// address, or - for standard input",
    )
    .option("--dataset <id>", "target dataset; with --stack its name, or the only one")
    .addOption(new Option("--format <name>", "format of the files (default: by extension)").choices(formats))
    .option("--map <field=column>", "column of a field, as in ts=time; repeatable", keyValue("field=column"))
    .option("--set <field=value>", "value of a field for all records; repeatable", keyValue("field=value"))
    .option("--attributes <columns>", "comma-separated columns to import as attributes", commaSeparated)
    .addOption(new Option("--ts-unit <unit>", "unit of ts (default: by size)").choices(["s", "ms", "us"]))
    .option("--parallel <number>", "concurrent calls", wholeNumber(1, 64), 8)
    .option("--max-failures <number>", "number of records that may be rejected", wholeNumber(), 0)
    .option("--shards <number>", "shards of the dataset, to check the capacity first", wholeNumber(1))
    .option("--rejects <file>", "file for rejected records (default: recommender-rejects-SOURCE.ndjson)")
    .option("--force", "send all records again")
    .option("--dry-run", "send nothing; show what would be imported and rejected")
    .action((kind: RecordKindName, source: string, options: ImportOptions) =>
      withJsonErrors(options, async () =>
        options.dryRun
          ? dryRun(await planImport(await addressOf(options), kind, source, options), options)
          : usingService(options, (opened) => importRecords(opened, kind, source, options)),
      ),
    );
}

/** Returns the address of the service whose limits a dry run checks. Without `--stack`, this needs no credentials. */
async function addressOf(options: ImportOptions): Promise<string> {
  if (options.stack !== undefined) return (await settingsOf(options)).settings.baseUrl;
  return options.service ?? process.env.RECOMMENDER_BASE_URL ?? "embedded:";
}

type Outcome = Omit<UploadResult, "token">;

async function importRecords(
  { client, settings, resolveId }: OpenService,
  kindName: RecordKindName,
  source: string,
  options: ImportOptions,
): Promise<void> {
  const { assertColumns } = await import("../../records/columns.js");
  const { finishedUpload, upload } = await import("../../records/upload.js");
  const { LastWriter } = await import("../../records/last-writer.js");
  const { contentHash } = await import("../../records/source.js");
  const { currentVersionKey, hashOfVersion, rememberHash, versionKey } = await import(
    "../../records/sources/version-key.js"
  );
  const { rejectsFileForSource } = await import("../../records/rejects.js");
  const { shardsOf } = await import("../../records/capacity.js");
  const { accountOf } = await import("../../provider/run/account.js");

  const datasetId = resolveId(datasetTypes[kindName], options.dataset, "--dataset");
  const plan = await planImport(settings.baseUrl, kindName, source, options);
  const { kind, mapping } = plan;
  // Include the account, because another account may have a dataset with the same id at the same address.
  const account = accountOf(settings);
  const owner = [kindName, plan.owner, ...(account ? [account] : [])].join(" ");
  const rejectsFile = options.rejects ?? rejectsFileForSource(source, plan.displayName);
  const report = (hash: string) => new ImportReport(kindName, datasetId, hash, rejectsFile, options);
  const finished = options.force ? undefined : finishedUpload(client, datasetId, owner);
  // If records were rejected before, run the upload again, because --max-failures may be lower now.
  const isDone = (hash: string | undefined) =>
    hash !== undefined && finished?.contentHash === hash && finished.totals.failedCount === 0;
  const key = finished && (await currentVersionKey(plan));
  const known = key && hashOfVersion(key);
  if (finished && known && isDone(known)) return report(known).print({ ...finished.totals, sentCount: 0 });
  const files = await plan.files();
  for (const warning of await assertColumns(files, kind, mapping, mappingFlags)) note(warning);
  const hash = await contentHash(files, mapping);
  rememberHash(versionKey(plan, files[0]?.remoteVersion), hash);
  if (finished && isDone(hash)) return report(hash).print({ ...finished.totals, sentCount: 0 });
  const { parallel, maxFailures, shards, force = false } = options;
  await report(hash).during(async (callbacks) =>
    upload({
      client,
      kind,
      datasetId,
      files,
      mapping,
      owner,
      rejectsFile,
      contentHash: hash,
      parallel,
      maxFailures,
      maxFailuresName: "--max-failures",
      numShards: shards ?? (await shardsOf(kind, datasetId, client)),
      history: { recorded: new LastWriter(client, datasetId).token },
      force,
      ...callbacks,
    }),
  );
}

type Callbacks = Pick<UploadOptions, "onProgress" | "onUnresumable" | "onHint">;

/** Prints the progress and the result of an import. */
class ImportReport {
  readonly #began = performance.now();

  constructor(
    private readonly kindName: RecordKindName,
    private readonly datasetId: string,
    private readonly contentHash: string,
    private readonly rejectsFile: string,
    private readonly options: ImportOptions,
  ) {}

  /** Runs an upload with a progress bar and prints its result. */
  async during(run: (callbacks: Callbacks) => Promise<Outcome>): Promise<void> {
    const { TooManyFailuresError } = await import("../../records/upload-options.js");
    const progress = importProgress(this.options);
    let next = `Run the same command ${this.options.force ? "without --force " : ""}to continue.`;
    const callbacks: Callbacks = {
      onProgress: progress.update,
      onUnresumable: (message) => {
        next = "The next import starts over.";
        note(message);
      },
      onHint: (message) => {
        progress.end();
        note(message);
      },
    };
    try {
      this.print(
        await withProgress(
          progress,
          () => `Interrupted. ${next}`,
          () => run(callbacks),
        ),
      );
    } catch (error) {
      if (!(error instanceof TooManyFailuresError)) throw error;
      throw new CommandError(error.message, exitCodes.rejected, this.#outcome(error.uploaded));
    }
  }

  /** Prints the result. */
  print(uploaded: Outcome): void {
    const outcome = this.#outcome(uploaded);
    print(this.options, outcome, () => describe(this.kindName, this.datasetId, outcome));
    if (uploaded.failedCount > 0) note(`The rejected records are in ${this.rejectsFile}`);
  }

  #outcome({ recordCount, failedCount, sentCount }: Outcome) {
    return {
      recordCount,
      failedCount,
      sentCount,
      contentHash: this.contentHash,
      seconds: Math.round(performance.now() - this.#began) / 1000,
      ...(failedCount > 0 && { rejectsFile: this.rejectsFile }),
    };
  }
}

function describe(
  kind: string,
  datasetId: string,
  outcome: Record<"recordCount" | "failedCount" | "sentCount" | "seconds", number>,
): string {
  const noun = kind.slice(0, -1);
  const { recordCount, failedCount, sentCount, seconds } = outcome;
  const skipped = recordCount - sentCount;
  const took = seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
  const rate = `${formatNumber(sentCount / Math.max(seconds, 0.001))} per second`;
  if (recordCount + failedCount === 0) return `The source has no ${kind}\n`;
  const lines =
    sentCount === 0
      ? [`Nothing to do: ${formatCount(recordCount, noun)} of this source already in ${datasetId}`]
      : [`Imported ${formatCount(sentCount, noun)} into ${datasetId}`, `in ${took}, ${rate}`];
  if (sentCount > 0 && skipped > 0)
    lines.push(`${formatCount(skipped, noun)} of the source already in the dataset`);
  if (failedCount > 0) lines.push(`${formatCount(failedCount, "record")} rejected`);
  return `${lines.join("\n")}\n`;
}
