import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { ZodError } from "zod";
import { ignoreHint } from "../../client/git-ignore";
import { defaultDataDir } from "../stack/data-directory";
import { exitCodes } from "../terminal/exit";
import { readJsonFile } from "../terminal/json-file";
import { httpUrl, postgresUrl, wholeNumber } from "../terminal/option-values";
import { note, print } from "../terminal/output";

interface ServeOptions {
  readonly port: number;
  readonly data: string;
  readonly files?: string;
  readonly store?: string;
  readonly role?: "api" | "worker" | "all";
  readonly host: string;
  readonly publicUrl?: string;
  readonly ephemeral?: true;
  readonly seed?: string;
  readonly planShards: number;
  readonly jobDelay: number;
  readonly leaseMs?: number;
  readonly idleMinutes?: number;
  readonly trainer?: string;
  readonly threads?: number;
  readonly faults?: true;
  readonly console?: true;
  readonly verbose?: true;
  readonly json?: true;
}

/** Adds `recommender serve`. */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description(
      "Serve the whole API from a folder until stopped; data is kept there and found again at the next start.",
    )
    .option(
      "--port <number>",
      "port; 0 takes the one kept in the folder, or a free one",
      wholeNumber(0, 65_535),
      0,
    )
    .option("--data <dir>", "folder of all data", defaultDataDir)
    .addOption(
      new Option("--files <url>", "bucket of models and results, as in s3://bucket/prefix").env(
        "RECOMMENDER_FILES",
      ),
    )
    .addOption(
      new Option(
        "--store <url>",
        "PostgreSQL database that keeps the data instead, as in postgres://host/name",
      )
        .env("RECOMMENDER_STORE")
        .argParser(postgresUrl),
    )
    .addOption(
      new Option("--role <role>", "what this process does over PostgreSQL: answer calls, run jobs, or both")
        .choices(["api", "worker", "all"])
        .env("RECOMMENDER_ROLE"),
    )
    .option("--host <address>", "interface to listen on; the key travels in the clear", "127.0.0.1")
    .option(
      "--public-url <url>",
      "base address that others reach it under, for the addresses in answers",
      httpUrl,
    )
    .option("--ephemeral", "keep data in a temporary folder that goes with the service")
    .option("--seed <file>", "fill it from a JSON file with users, items and events, then train and deploy")
    .option("--plan-shards <number>", "shards of all event datasets together", wholeNumber(1), 100)
    .option("--job-delay <ms>", "stretch every job, to try waiting", wholeNumber(), 0)
    .addOption(
      new Option(
        "--lease-ms <ms>",
        "how long a process over PostgreSQL keeps its jobs without a sign of life",
      )
        .argParser(wholeNumber(100))
        .hideHelp(),
    )
    .option("--idle-minutes <number>", "end when nobody has used it for so long", wholeNumber(1))
    .addOption(
      new Option("--trainer <command>", "shell command that trains models instead: docs/training.md").env(
        "RECOMMENDER_TRAINER",
      ),
    )
    .addOption(
      new Option(
        "--threads <number>",
        "threads that trainings use together; as many as there are cores unless given",
      )
        .argParser(wholeNumber(1))
        .env("RECOMMENDER_THREADS"),
    )
    .addOption(
      new Option(
        "--console",
        "let the console be opened though others than this machine reach the service",
      ).env("RECOMMENDER_CONSOLE"),
    )
    .option("--faults", "allow faults to be switched on at run time through /faults")
    .option("--verbose", "log to standard error instead of the folder's service.log")
    .option("--json", "print one line of JSON when ready")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender serve\n  recommender serve --ephemeral --seed shop.json\n  recommender serve --json --port 8080 --data ./other" +
        "\n  RECOMMENDER_API_KEY=… recommender serve --store postgres://db/shop --role api",
    )
    .action(serve);
}

const closeWithinMs = 20_000;

/** Loaded here and not above, so that `--help` and errors of arguments come at once. */
async function serve(options: ServeOptions): Promise<void> {
  if (options.role !== undefined && options.store === undefined)
    throw new Error("--role needs --store: a folder has one process, which does everything.");
  const { seed, startService } = await import("../../service/index.js");
  const content = options.seed === undefined ? undefined : readJsonFile(options.seed);
  const isNew = !options.ephemeral && options.store === undefined && !existsSync(options.data);
  const service = await startService({
    port: options.port,
    host: options.host,
    planShards: options.planShards,
    jobDelayMs: options.jobDelay,
    faults: options.faults ?? false,
    ...(options.console ? { console: true } : {}),
    log: options.verbose || options.store !== undefined ? "stderr" : "file",
    ...(options.files === undefined ? {} : { files: options.files }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...(options.store === undefined
      ? {}
      : { store: options.store, role: options.role ?? "all", key: process.env.RECOMMENDER_API_KEY ?? "" }),
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
    ...(options.ephemeral || options.store !== undefined ? {} : { dataDir: options.data }),
    ...(options.idleMinutes === undefined ? {} : { idleMinutes: options.idleMinutes }),
    ...(options.trainer === undefined ? {} : { trainer: options.trainer }),
    ...(options.threads === undefined ? {} : { threads: options.threads }),
    onIdle: () => process.exit(0),
  });
  for (const warning of service.warnings) note(warning);
  const hint = isNew ? await ignoreHint(options.data, "the service's data") : undefined;
  if (hint) note(hint);
  const end = async () => {
    // All that was acknowledged is on disk, so a process that cannot close may as well be gone.
    setTimeout(() => process.exit(exitCodes.failed), closeWithinMs).unref();
    await service.close();
    process.exit(0);
  };
  // A second Ctrl+C ends the process at once; a second `recommender stop` does not.
  process.once("SIGINT", end);
  process.on("SIGTERM", end);
  const { url, place, dataDir, keyFile } = service;
  const projectId =
    content === undefined
      ? undefined
      : await seed(service, content).catch(async (error) => {
          await service.close();
          throw await readable(error, options.seed as string);
        });
  const where =
    options.store === undefined ? { dataDir, keyFile } : { store: place, role: options.role ?? "all" };
  print(options, { url, ...where, pid: process.pid, ...(projectId ? { projectId } : {}) }, () => {
    const seeded = projectId ? `Seeded project ${projectId}\n` : "";
    const key = options.store === undefined ? `The API key lies in ${keyFile}\n` : "";
    return `Serving ${url} from ${place}\n${key}${seeded}`;
  });
}

/** What is wrong with a seed file, as people read it. */
async function readable(error: Error, file: string): Promise<Error> {
  const { issuesText } = await import("../../contract/messages.js");
  return error instanceof ZodError ? new Error(`${file}: ${issuesText(error.issues)}`) : error;
}
