import { createHash } from "node:crypto";
import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { limits, routes } from "../../contract";
import { fetchResult, parseResult, writeResultFile } from "../jobs/job-result";
import {
  type FinishedJob,
  type ResultJobOptions,
  resultJobExitCodes,
  runResultJob,
  saveUnknownResult,
  withResultJob,
} from "../jobs/result-job";
import { exitCodes } from "../terminal/exit";
import { type Bin, histogram } from "../terminal/histogram";
import { escapeControls, terminalWidth } from "../terminal/layout";
import { wholeNumber } from "../terminal/option-values";
import { note, print } from "../terminal/output";

interface Asked {
  readonly attribute: string;
  readonly value: string;
}

interface DistributionOptions extends ResultJobOptions {
  readonly bins: number;
  readonly svg?: string;
}

const help = `
The chart is drawn on the terminal and written as SVG, for genre=jazz into
distribution-genre-jazz.svg unless --svg names a file. Several values make
several charts. A value that no item has makes none: the nearest values are
named, and the exit code is 1.
${resultJobExitCodes}

Examples:
  recommender distribution genre=jazz --stack dev
  recommender distribution genre=jazz genre=folk --project ID --model ID
  recommender distribution genre=jazz --stack dev --svg jazz.svg --json`;

/** Adds `recommender distribution`. */
export function addDistribution(program: Command): void {
  withResultJob(
    program
      .command("distribution")
      .description("Draw how the usage of an item attribute value is spread over the users."),
  )
    .argument("<attribute=value...>", "item attribute values, as in genre=jazz", attributeValue)
    .option("--bins <number>", "bars of the chart", wholeNumber(1), limits.defaultBins)
    .option("--svg <file>", "file for the chart; with several values, its number is added")
    .addHelpText("after", help)
    .action(distribution);
}

async function distribution(asked: readonly Asked[], options: DistributionOptions): Promise<void> {
  const { bins } = options;
  const files = svgFiles(asked, options.svg);
  await runResultJob(
    options,
    routes.submitQueryingJob,
    (of) => ({ ...of, queryType: "user_distribution", queries: asked.map((one) => ({ ...one, bins })) }),
    async (answer) => {
      const json = parseResult(answer.result);
      const known = distributions.safeParse(json);
      if (!known.success) return tellOther(answer, options, files[0] as string, json);
      const isAbsent = (at: number) => known.data.queries[at]?.item_count === 0;
      const charts: string[] = [];
      for (const [at, file] of files.entries()) {
        // All users would stand at no usage, which is no distribution of anything; the service's message says so.
        if (isAbsent(at)) {
          process.exitCode = exitCodes.failed;
          continue;
        }
        const chart = await fetchResult(answer.job, { format: "svg", query: String(at) });
        if (chart.type !== "image/svg+xml") {
          note("The service draws no SVG.");
          break;
        }
        writeResultFile(file, chart.body);
        charts.push(file);
      }
      print(options, { jobId: answer.jobId, charts, result: json }, () => {
        const columns = terminalWidth(process.stdout);
        const drawn = known.data.queries.flatMap(({ bins: bars }, at) => {
          const { attribute, value } = asked[at] as Asked;
          if (isAbsent(at)) return [];
          return [
            histogram(
              `Usage of ${escapeControls(attribute)} = ${escapeControls(value)}`,
              bars as Bin[],
              columns,
            ),
          ];
        });
        const written = charts.map((file) => `Chart: ${file}\n`).join("");
        return [...drawn, ...(written ? [written] : [])].join("\n");
      });
    },
  );
}

/** The specification says no more than that the result is a chart: a picture is kept as it is. */
function tellOther(answer: FinishedJob, options: DistributionOptions, file: string, json: unknown): void {
  if (answer.result.type === "image/svg+xml") {
    writeResultFile(file, answer.result.body);
    print(options, { jobId: answer.jobId, charts: [file] }, () => `Chart: ${file}\n`);
  } else saveUnknownResult(answer, options, json);
}

/** The result as the embedded service gives it. */
const distributions = z.object({
  queries: z.array(
    z.object({
      item_count: z.number().optional(),
      bins: z.array(z.object({ from: z.number(), to: z.number(), users: z.number() })).min(1),
    }),
  ),
});

/** A file for each chart; no two are the same, however alike the values are. */
function svgFiles(asked: readonly Asked[], given: string | undefined): string[] {
  if (given !== undefined && asked.length === 1) return [given];
  if (given !== undefined) return asked.map((_, at) => given.replace(/(\.svg)?$/i, `-${at + 1}.svg`));
  const taken = new Set<string>();
  return asked.map((one) => {
    const stem = svgStem(one);
    let name = stem;
    // Some file systems take capitals and small letters for the same.
    for (let at = 2; taken.has(name.toLowerCase()); at++) name = `${stem}-${at}`;
    taken.add(name.toLowerCase());
    return `${name}.svg`;
  });
}

/** A name that a file can have; where it does not contain the whole value, a digest distinguishes it. */
function svgStem({ attribute, value }: Asked): string {
  const safe = (text: string) => text.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60);
  const stem = `distribution-${safe(attribute)}-${safe(value)}`;
  if (safe(attribute) === attribute && safe(value) === value && !attribute.includes("-")) return stem;
  const digest = createHash("sha256")
    .update(JSON.stringify([attribute, value]))
    .digest("hex");
  return `${stem}-${digest.slice(0, 8)}`;
}

function attributeValue(text: string, earlier: readonly Asked[] = []): Asked[] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("Expected ATTRIBUTE=VALUE, as in genre=jazz.");
  return [...earlier, { attribute: text.slice(0, at), value: text.slice(at + 1) }];
}
