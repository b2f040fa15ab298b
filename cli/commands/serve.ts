import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { ZodError } from "zod";
import { ignoreHint } from "../../client/git-ignore";
import type { StartOptions } from "../../service";
import { enableTracing, flushTracing } from "../../telemetry/tracing";
import { defaultDataDir, filesOption, storeOption } from "../stack/data-directory";
import { exitCodes } from "../terminal/exit";
import { readJsonFile } from "../terminal/json-file";
import { commaSeparated, httpUrl, wholeNumber } from "../terminal/option-values";
import { note, print } from "../terminal/output";

/** Most options have the names and types that the service uses. */
interface ServeOptions extends Omit<StartOptions, "dataDir" | "jobDelayMs" | "key" | "log" | "onIdle"> {
  readonly data: string;
  readonly ephemeral?: true;
  readonly seed?: string;
  readonly jobDelay: number;
  readonly verbose?: true;
  readonly json?: true;
}

/** Adds `recommender serve`. */
export function addServe(program: Command): void {
  program
    .command("serve")
    .description("Run the service. Its data is in a data directory, or in PostgreSQL.")
    .option("--port <number>", "port; 0 reuses the last port, or takes a free one", wholeNumber(0, 65_535), 0)
    .option("--data <dir>", "data directory", defaultDataDir)
    .addOption(filesOption())
    .addOption(storeOption())
    .addOption(
      new Option("--role <role>", "with --store: answer calls, run jobs, or both")
        .choices(["api", "worker", "all"])
        .env("RECOMMENDER_ROLE"),
    )
    .option("--host <address>", "interface to listen on; traffic is not encrypted", "127.0.0.1")
    .option("--public-url <url>", "public address of the service, for addresses in responses", httpUrl)
    .addOption(
      new Option(
        "--allow-origin <origins>",
        "comma-separated origins whose web pages may use every public key",
      )
        .argParser(commaSeparated)
        .env("RECOMMENDER_ALLOW_ORIGIN"),
    )
    .addOption(
      new Option(
        "--trust-proxy <addresses>",
        "comma-separated addresses or networks of proxies whose X-Forwarded-For names the caller",
      )
        .argParser(commaSeparated)
        .env("RECOMMENDER_TRUST_PROXY"),
    )
    .option("--ephemeral", "use a temporary data directory, deleted at the end")
    .option("--seed <file>", "load users, items and events from a JSON file, then train and deploy")
    .option("--plan-shards <number>", "shards of all event datasets in total", wholeNumber(1), 100)
    .option("--job-delay <ms>", "delay every job, to test waiting", wholeNumber(), 0)
    .addOption(
      new Option("--lease-ms <ms>", "with --store: time until a process without heartbeat loses its jobs")
        .argParser(wholeNumber(100))
        .hideHelp(),
    )
    .option("--idle-minutes <number>", "stop after this many minutes without calls", wholeNumber(1))
    .addOption(
      new Option("--trainer <command>", "shell command that trains models: docs/training.md").env(
        "RECOMMENDER_TRAINER",
      ),
    )
    .addOption(
      new Option("--threads <number>", "threads for all trainings together (default: number of cores)")
        .argParser(wholeNumber(1))
        .env("RECOMMENDER_THREADS"),
    )
    .addOption(
      new Option("--console", "allow the console although the service is reachable from other machines").env(
        "RECOMMENDER_CONSOLE",
      ),
    )
    .option("--faults", "allow fault injection through /faults")
    .option("--verbose", "log to standard error instead of service.log")
    .option("--json", "print one line of JSON when ready")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender serve\n  recommender serve --ephemeral --seed shop.json\n  recommender serve --json --port 8080 --data ./other" +
        "\n  RECOMMENDER_API_KEY=… recommender serve --store postgres://db/shop --role api",
    )
    .action(serve);
}

/** Time that the service has to close before the process exits anyway. */
const closeTimeoutMs = 20_000;

/**
 * Runs the service until a signal stops it. Imports the service code only now, to keep `--help` and argument errors
 * fast.
 */
async function serve(options: ServeOptions): Promise<void> {
  if (options.role !== undefined && options.store === undefined)
    throw new Error("--role needs --store. Only one process can use a data directory, and it has all roles.");
  // Calls and jobs continue the traces of their callers, not the trace of the command that started this process.
  const onProblem = (message: string) => note(message);
  enableTracing({ name: "recommender-service", continues: false, onProblem });
  const { seed, startService } = await import("../../service/index.js");
  const content = options.seed === undefined ? undefined : readJsonFile(options.seed);
  const isNew = !options.ephemeral && options.store === undefined && !existsSync(options.data);
  const { data, ephemeral, seed: _, jobDelay, verbose, json: __, ...shared } = options;
  const role = options.role ?? "all";
  const service = await startService({
    ...shared,
    jobDelayMs: jobDelay,
    log: verbose || options.store !== undefined ? "stderr" : "file",
    ...(options.store !== undefined && { role, key: process.env.RECOMMENDER_API_KEY ?? "" }),
    ...(options.store === undefined && !ephemeral && { dataDir: data }),
    onIdle: () => void flushTracing().then(() => process.exit(0)),
  });
  for (const warning of service.warnings) note(warning);
  const hint = isNew ? await ignoreHint(options.data, "the service's data") : undefined;
  if (hint) note(hint);
  const end = async () => {
    // Acknowledged data is already stored, so it is safe to exit if closing takes too long.
    setTimeout(() => process.exit(exitCodes.failed), closeTimeoutMs).unref();
    await service.close();
    await flushTracing();
    process.exit(0);
  };
  // A second Ctrl+C ends the process at once. A second SIGTERM from `recommender stop` does not.
  process.once("SIGINT", end);
  process.on("SIGTERM", end);
  const { url, place, dataDir, keyFile } = service;
  const projectId =
    content === undefined
      ? undefined
      : await seed(service, content).catch(async (error) => {
          await service.close();
          throw await seedError(error, options.seed as string);
        });
  const storage = options.store === undefined ? { dataDir, keyFile } : { store: place, role };
  print(options, { url, ...storage, pid: process.pid, ...(projectId ? { projectId } : {}) }, () => {
    const seeded = projectId ? `Seeded project ${projectId}\n` : "";
    const key = options.store === undefined ? `The API key is in ${keyFile}\n` : "";
    return `Serving ${url} from ${place}\n${key}${seeded}`;
  });
}

/** Returns an error that describes what is wrong with a seed file. */
async function seedError(error: Error, file: string): Promise<Error> {
  const { issuesText } = await import("../../contract/messages.js");
  return error instanceof ZodError ? new Error(`${file}: ${issuesText(error.issues)}`) : error;
}
