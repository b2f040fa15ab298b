import { basename, resolve } from "node:path";
import { Argument, type Command, Option } from "commander";
import { CommandError, exitCodes, onInterrupt } from "./exit";
import { counted, grouped, lasting, note, print } from "./output";
import { importProgress } from "./progress";
import { type Opened, type ServiceOptions, usingService, withService } from "./service";
import { list, pair, whole } from "./values";

interface ImportOptions extends ServiceOptions {
  readonly dataset?: string;
  readonly format?: "ndjson" | "json" | "csv" | "parquet";
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, string>>;
  readonly attributes?: readonly string[];
  readonly tsUnit?: "s" | "ms" | "us";
  readonly parallel: number;
  readonly maxFailures: number;
  readonly shards?: number;
  readonly rejects?: string;
  readonly force?: true;
}

type KindName = "users" | "items" | "events";

const datasetTypes = { users: "UserDataset", items: "ItemDataset", events: "EventDataset" };

const help = `
Columns that are no fields become attributes. An event without an id gets one of
its user, item and ts. A ts may be an ISO date (UTC where it names no zone),
seconds or milliseconds: a number below 100,000,000,000 is seconds, from there
on it is milliseconds. --ts-unit says otherwise. Without it a number is refused
that would be after 2100, or that reads as a date, as 20250131 does.

An import that was interrupted goes on where it was, one of an unchanged source
makes no call, and one of a changed source sends only the batches that changed.
--force sends everything.

Exit codes:
  0  all records are in the dataset (or as many as --max-failures allows for)
  1  the import failed; run the same command again to go on
  2  records were refused; they are in the file of rejects with the reasons, all
     others are in the dataset

Examples:
  recommender import users users.csv --dataset ID --map userId=customer
  recommender import events 'logs/*.ndjson.gz' --dataset ID \\
    --map ts=time --set eventType=purchase
  recommender import items items.parquet --stack dev --attributes genre,year`;

/** Adds `recommender import`. */
export function addImport(program: Command): void {
  withService(program.command("import").description("Import records from a file or a glob into a dataset."))
    .addArgument(new Argument("<kind>", "what the records are").choices(["users", "items", "events"]))
    .argument("<source>", "a file or a glob in quotes: NDJSON, JSON, CSV or Parquet, plain or gzip")
    .option("--dataset <id>", "dataset to import into; with --stack its name, or the only one")
    .addOption(
      new Option("--format <name>", "form of the files; told by the end of their names unless given").choices(
        ["ndjson", "json", "csv", "parquet"],
      ),
    )
    .option("--map <field=column>", "column of a field, as in ts=time; may be repeated", pair("field=column"))
    .option("--set <field=value>", "value of a field for all records; may be repeated", pair("field=value"))
    .option("--attributes <columns>", "columns to take as attributes, separated by commas", list)
    .addOption(
      new Option("--ts-unit <unit>", "unit of a ts that is a number; by its size unless given").choices([
        "s",
        "ms",
        "us",
      ]),
    )
    .option("--parallel <number>", "calls under way at once", whole(1, 64), 8)
    .option("--max-failures <number>", "records that may be refused", whole(), 0)
    .option("--shards <number>", "shards of the dataset, to check first whether all will fit", whole(1))
    .option("--rejects <file>", "file for refused records; recommender-rejects-SOURCE.ndjson unless given")
    .option("--force", "send everything again")
    .addHelpText("after", help)
    .action((kind: KindName, source: string, options: ImportOptions) =>
      usingService(options, (opened) => importRecords(opened, kind, source, options)),
    );
}

async function importRecords(
  { client, idOf }: Opened,
  kindName: KindName,
  source: string,
  options: ImportOptions,
): Promise<void> {
  const { recordKinds } = await import("../provider/records/kind.js");
  const { finishedUpload, TooManyFailuresError, upload } = await import("../provider/records/upload.js");
  const { contentHash, findFiles, hashable } = await import("../provider/records/source.js");
  const { shardsOf } = await import("../provider/records/shards.js");

  const kind = recordKinds[kindName];
  const datasetId = idOf(datasetTypes[kindName], options.dataset, "--dataset");
  const mapping = await mappingOf(kind, options);
  const files = await findFiles(source, options.format);
  const hash = await contentHash(hashable(files), mapping);
  const owner = `${kindName} ${resolve(source)}`;
  const rejectsFile =
    options.rejects ?? `recommender-rejects-${basename(source).replace(/[*?{}[\]]/g, "_")}.ndjson`;
  const began = performance.now();
  const tell = (totals: { recordCount: number; failedCount: number }, sentCount: number) => {
    const seconds = Math.round(performance.now() - began) / 1000;
    const outcome = { ...totals, sentCount, contentHash: hash, seconds };
    print(options, outcome, () => describe(kindName, datasetId, outcome));
    if (totals.failedCount > 0) note(`The refused records are in ${rejectsFile}`);
  };
  const finished = options.force ? undefined : finishedUpload(client, datasetId, owner);
  if (finished?.contentHash === hash) return tell(finished.totals, 0);
  const progress = importProgress(options);
  const callOff = onInterrupt(() => {
    progress.end();
    note("Interrupted; the same command goes on where it was.");
  });
  try {
    const { sentCount, ...totals } = await upload({
      ...{ client, kind, datasetId, files, mapping, owner, rejectsFile },
      contentHash: hash,
      parallel: options.parallel,
      maxFailures: options.maxFailures,
      maxFailuresName: "--max-failures",
      numShards: options.shards ?? (await shardsOf(kind, datasetId, client)),
      basis: finished?.contentHash,
      force: options.force ?? false,
      onProgress: progress.update,
    });
    progress.end();
    tell(totals, sentCount);
  } catch (error) {
    progress.end();
    throw error instanceof TooManyFailuresError ? new CommandError(error.message, exitCodes.refused) : error;
  } finally {
    callOff();
  }
}

async function mappingOf(
  kind: typeof import("../provider/records/kind.js")["recordKinds"]["users"],
  { map = {}, set = {}, attributes, tsUnit }: ImportOptions,
) {
  const { mappingSchema } = await import("../provider/records/mapping.js");
  const { issuesText } = await import("../contract/words.js");
  const constants = Object.entries(set).map(([field, value]) => [field, { value }]);
  const given = { ...map, ...Object.fromEntries(constants), attributes, tsUnit };
  const schema = mappingSchema(kind);
  const checked = schema.safeParse(JSON.parse(JSON.stringify(given)));
  if (checked.success) return checked.data;
  throw new Error(
    `--map and --set: ${issuesText(checked.error.issues, schema)}; fields are ${kind.fields.join(", ")}`,
  );
}

function describe(
  kind: string,
  datasetId: string,
  of: Record<"recordCount" | "failedCount" | "sentCount" | "seconds", number>,
): string {
  const noun = kind.slice(0, -1);
  const { recordCount, failedCount, sentCount, seconds } = of;
  const there = recordCount - sentCount;
  const took = seconds < 10 ? `${seconds.toFixed(1)} s` : lasting(seconds);
  const rate = `${grouped(sentCount / Math.max(seconds, 0.001))} per second`;
  const lines =
    sentCount === 0
      ? [`Nothing to do: ${counted(recordCount, noun)} of this source in ${datasetId} already`]
      : [`Imported ${counted(sentCount, noun)} into ${datasetId}`, `in ${took}, ${rate}`];
  if (sentCount > 0 && there > 0) lines.push(`${counted(there, noun)} of the source were there already`);
  if (failedCount > 0) lines.push(`${counted(failedCount, "record")} refused`);
  return `${lines.join("\n")}\n`;
}
