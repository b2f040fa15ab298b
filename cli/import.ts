import { basename, resolve } from "node:path";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { importBar } from "./import-bar";

interface ImportOptions {
  readonly dataset: string;
  readonly service?: string;
  readonly format?: "ndjson" | "json" | "csv" | "parquet";
  readonly map: Readonly<Record<string, string>>;
  readonly set: Readonly<Record<string, string>>;
  readonly attributes?: string;
  readonly parallel: number;
  readonly maxFailures: number;
  readonly shards?: number;
  readonly rejects?: string;
  readonly force?: true;
  readonly json?: true;
}

const help = `
Columns that are no fields become attributes. An event without an id gets one of its user, item and ts.
A ts may be an ISO date (UTC where it names no zone), seconds or milliseconds: a number below 100,000,000,000
is seconds, from there on it is milliseconds.

An import that was interrupted goes on where it was, one of an unchanged source makes no call, and one of a
changed source sends only the batches that changed. --force sends everything.

Exit codes:
  0  all records are in the dataset (or as many as --max-failures allows for)
  1  the import failed; run the same command again to go on
  2  records were refused; they are in the file of rejects with the reasons, all others are in the dataset

Examples:
  recommender import users users.csv --dataset ID --map userId=customer
  recommender import events 'logs/*.ndjson.gz' --dataset ID --map ts=time --set eventType=purchase
  recommender import items items.parquet --dataset ID --attributes genre,year`;

/** Adds `recommender import`. */
export function addImport(program: Command): void {
  program
    .command("import")
    .description("Import records from a file or a glob into a dataset.")
    .addArgument(new Argument("<kind>", "what the records are").choices(["users", "items", "events"]))
    .argument("<source>", "a file or a glob in quotes: NDJSON, JSON, CSV or Parquet, plain or gzip")
    .requiredOption("--dataset <id>", "dataset to import into")
    .option("--service <url>", "address of the service, or embedded:DIR; RECOMMENDER_BASE_URL unless given")
    .addOption(
      new Option("--format <name>", "form of the files; told by the end of their names unless given").choices(
        ["ndjson", "json", "csv", "parquet"],
      ),
    )
    .option("--map <field=column>", "column of a field, as in ts=time; may be repeated", pair, {})
    .option("--set <field=value>", "value of a field for all records; may be repeated", pair, {})
    .option("--attributes <columns>", "columns to take as attributes, separated by commas")
    .option("--parallel <number>", "calls under way at once", whole, 8)
    .option("--max-failures <number>", "records that may be refused", whole, 0)
    .option("--shards <number>", "shards of the dataset, to check first whether all will fit", whole)
    .option("--rejects <file>", "file for refused records; recommender-rejects-SOURCE.ndjson unless given")
    .option("--force", "send everything again")
    .option("--json", "print the outcome as one line of JSON")
    .addHelpText("after", help)
    .action(importRecords);
}

async function importRecords(
  kindName: "users" | "items" | "events",
  source: string,
  options: ImportOptions,
): Promise<void> {
  const { connect } = await import("../provider/connection.js");
  const { readSettings } = await import("../provider/settings.js");
  const { recordKinds } = await import("../provider/records/kind.js");
  const { finishedUpload, TooManyFailuresError, upload } = await import("../provider/records/upload.js");
  const { contentHash, findFiles, hashable } = await import("../provider/records/source.js");
  const { shardsOf } = await import("../provider/records/shards.js");

  const kind = recordKinds[kindName];
  const mapping = await mappingOf(kind, options);
  const files = await findFiles(source, options.format);
  const hash = await contentHash(hashable(files), mapping);
  const environment = options.service
    ? { ...process.env, RECOMMENDER_BASE_URL: options.service }
    : process.env;
  const client = await connect(readSettings(() => undefined, environment));
  const datasetId = options.dataset;
  const owner = `${kindName} ${resolve(source)}`;
  const rejectsFile =
    options.rejects ?? `recommender-rejects-${basename(source).replace(/[*?{}[\]]/g, "_")}.ndjson`;
  const began = performance.now();
  const tell = (totals: { recordCount: number; failedCount: number }, sentCount: number) => {
    const seconds = Math.round(performance.now() - began) / 1000;
    const outcome = { ...totals, sentCount, contentHash: hash, seconds };
    process.stdout.write(
      options.json ? `${JSON.stringify(outcome)}\n` : describe(kindName, datasetId, outcome),
    );
    if (totals.failedCount > 0) process.stderr.write(`The refused records are in ${rejectsFile}\n`);
  };
  try {
    const finished = options.force ? undefined : finishedUpload(client, datasetId, owner);
    if (finished?.contentHash === hash) return tell(finished.totals, 0);
    const bar = importBar(options.json !== true && process.stderr.isTTY === true);
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
        onProgress: bar.update,
      });
      bar.end();
      tell(totals, sentCount);
    } finally {
      bar.end();
    }
  } catch (error) {
    if (!(error instanceof TooManyFailuresError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  } finally {
    await client.close();
  }
}

async function mappingOf(
  kind: typeof import("../provider/records/kind.js")["recordKinds"]["users"],
  { map, set, attributes }: ImportOptions,
) {
  const { mappingSchema } = await import("../provider/records/mapping.js");
  const { issuesText } = await import("../provider/errors.js");
  const constants = Object.entries(set).map(([field, value]) => [field, { value }]);
  const columns = attributes === undefined ? {} : { attributes: attributes.split(",").filter(Boolean) };
  const checked = mappingSchema(kind).safeParse({ ...map, ...Object.fromEntries(constants), ...columns });
  if (checked.success) return checked.data;
  throw new Error(
    `--map and --set: ${issuesText(checked.error.issues)}; fields are ${kind.fields.join(", ")}`,
  );
}

function describe(
  kind: string,
  datasetId: string,
  {
    recordCount,
    failedCount,
    sentCount,
    seconds,
  }: Record<"recordCount" | "failedCount" | "sentCount" | "seconds", number>,
): string {
  const shown = (count: number) => count.toLocaleString("en");
  if (sentCount === 0)
    return `Nothing to do: the ${shown(recordCount)} ${kind} are in ${datasetId} already\n`;
  const rate = shown(Math.round(sentCount / Math.max(seconds, 0.001)));
  const there = recordCount > sentCount ? `, ${shown(recordCount - sentCount)} were there already` : "";
  const failed = failedCount > 0 ? `, ${shown(failedCount)} were refused` : "";
  return `Imported ${shown(sentCount)} ${kind} into ${datasetId} in ${seconds} s (${rate} per second)${there}${failed}\n`;
}

function pair(text: string, earlier: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected field=column.");
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

function whole(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}
