import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { digest } from "../../client/state-directory";
import { limits, routes } from "../../contract";
import { fetchResult } from "../jobs/job-result";
import {
  type FinishedJob,
  type ResultJobOptions,
  resultJobCommand,
  resultJobExitCodes,
  runResultJob,
  saveUnknownResult,
} from "../jobs/result-job";
import { exitCodes } from "../terminal/exit";
import { type Bin, histogram } from "../terminal/histogram";
import { escapeControls, terminalWidth } from "../terminal/layout";
import { wholeNumber } from "../terminal/option-values";
import { note, print } from "../terminal/output";
import { writeOutputFile } from "../terminal/output-file";

/** An item attribute value, as in `genre=jazz`. The command draws one chart for each. */
interface AttributeValue {
  readonly attribute: string;
  readonly value: string;
}

interface DistributionOptions extends ResultJobOptions {
  readonly bins: number;
  readonly svg?: string;
}

const help = `
Prints a chart per value, and writes it as SVG: for genre=jazz to
distribution-genre-jazz.svg, or to the file of --svg. If no item has a value,
the command lists the nearest values and ends with exit code 1.
${resultJobExitCodes}

Examples:
  recommender distribution genre=jazz --stack dev
  recommender distribution genre=jazz genre=folk --project ID --model ID
  recommender distribution genre=jazz --stack dev --svg jazz.svg --json`;

/** Adds `recommender distribution`. */
export function addDistribution(program: Command): void {
  const description = "Draw the distribution of users by their usage of an item attribute value.";
  resultJobCommand(program, "distribution", description, help)
    .argument("<attribute=value...>", "item attribute values, as in genre=jazz", attributeValue)
    .option("--bins <number>", "number of bars", wholeNumber(1), limits.defaultBins)
    .option("--svg <file>", "file for the chart; several charts are numbered")
    .action(distribution);
}

async function distribution(values: readonly AttributeValue[], options: DistributionOptions): Promise<void> {
  const queries = values.map((value) => ({ ...value, bins: options.bins }));
  const files = svgFiles(values, options.svg);
  await runResultJob(
    options,
    routes.submitQueryingJob,
    (common) => ({ ...common, queryType: "user_distribution", queries }),
    async (finished) => {
      const { json } = finished;
      const known = distributions.safeParse(json);
      if (!known.success) return saveOtherFormat(finished, options, files[0] as string);
      const isAbsent = (at: number) => known.data.queries[at]?.item_count === 0;
      const charts: string[] = [];
      for (const [at, file] of files.entries()) {
        // No item has this value, so all users would be in the first bar. The service's message already says so.
        if (isAbsent(at)) {
          process.exitCode = exitCodes.failed;
          continue;
        }
        const chart = await fetchResult(finished.job, { format: "svg", query: String(at) });
        if (chart.type !== "image/svg+xml") {
          note("The service does not provide the chart as SVG.");
          break;
        }
        writeOutputFile(file, chart.body);
        charts.push(file);
      }
      print(options, { jobId: finished.jobId, charts, result: json }, () => {
        const columns = terminalWidth(process.stdout);
        const drawn = known.data.queries.flatMap(({ bins: bars }, at) => {
          const { attribute, value } = values[at] as AttributeValue;
          if (isAbsent(at)) return [];
          const title = `Usage of ${escapeControls(attribute)} = ${escapeControls(value)}`;
          return [histogram(title, bars as Bin[], columns)];
        });
        const written = charts.map((file) => `Chart: ${file}\n`).join("");
        return [...drawn, ...(written ? [written] : [])].join("\n");
      });
    },
  );
}

/**
 * Saves a result that another service returned in its own format. The API specification says only that it is a chart.
 */
function saveOtherFormat(finished: FinishedJob, options: DistributionOptions, file: string): void {
  if (finished.result.type === "image/svg+xml") {
    writeOutputFile(file, finished.result.body);
    print(options, { jobId: finished.jobId, charts: [file] }, () => `Chart: ${file}\n`);
  } else saveUnknownResult(finished, options);
}

/** Result format of the service in this package. */
const distributions = z.object({
  queries: z.array(
    z.object({
      item_count: z.number().optional(),
      bins: z.array(z.object({ from: z.number(), to: z.number(), users: z.number() })).min(1),
    }),
  ),
});

/** Returns a unique file name for each chart. */
function svgFiles(values: readonly AttributeValue[], given: string | undefined): string[] {
  if (given !== undefined && values.length === 1) return [given];
  if (given !== undefined) return values.map((_, at) => given.replace(/(\.svg)?$/i, `-${at + 1}.svg`));
  const taken = new Set<string>();
  return values.map((one) => {
    const stem = svgStem(one);
    let name = stem;
    // Some file systems ignore case.
    for (let at = 2; taken.has(name.toLowerCase()); at++) name = `${stem}-${at}`;
    taken.add(name.toLowerCase());
    return `${name}.svg`;
  });
}

/** Returns a valid file name without its extension. Adds a digest if a different value could get the same name. */
function svgStem({ attribute, value }: AttributeValue): string {
  const safe = (text: string) => text.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60);
  const stem = `distribution-${safe(attribute)}-${safe(value)}`;
  if (safe(attribute) === attribute && safe(value) === value && !attribute.includes("-")) return stem;
  return `${stem}-${digest([attribute, value]).slice(0, 8)}`;
}

function attributeValue(text: string, earlier: readonly AttributeValue[] = []): AttributeValue[] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected ATTRIBUTE=VALUE, as in genre=jazz.");
  return [...earlier, { attribute: text.slice(0, at), value: text.slice(at + 1) }];
}
