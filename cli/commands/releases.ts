import { type Command, InvalidArgumentError } from "commander";
import type { TimelineEntry } from "../release/timeline";
import { table } from "../terminal/layout";
import { examples, print } from "../terminal/output";
import { writeOutputFile } from "../terminal/output-file";
import { cwdOption, releasesDirectory, releasesOption } from "./release";

interface ReleasesOptions {
  readonly cwd: string;
  readonly releases?: string;
  readonly chart?: string;
  readonly json?: true;
}

const help = `
Reads releases/STACK.json, without the engine and the service. BY is who ran the
command; entries of older versions show the author of the commit. NDCG@20 is the
quality of the live models. With --chart, an image shows it over time: SVG, or
Markdown for \`recommender comment\`, because comments cannot contain SVG.
${examples("releases", "releases prod --json", "releases prod --chart quality.svg", "releases prod --chart quality.md")}`;

/** Adds `recommender releases`. */
export function addReleases(program: Command): void {
  program
    .command("releases")
    .description("Show the history of releases, promotions, rollbacks and retrainings.")
    .argument("[stack]", "stack (default: all stacks with a history)")
    .addOption(cwdOption())
    .addOption(releasesOption())
    .option("--chart <file>", "draw the quality over time, as .svg or .md", chartFile)
    .option("--json", "print the history as JSON")
    .addHelpText("after", help)
    .action(run);
}

/** Accepts only charts, so a mistyped name cannot overwrite a history. */
function chartFile(file: string): string {
  if (/\.(svg|md)$/i.test(file)) return file;
  throw new InvalidArgumentError("Expected a file name that ends with .svg or .md.");
}

async function run(stack: string | undefined, options: ReleasesOptions): Promise<void> {
  const { readTimeline } = await import("../release/timeline.js");
  const { cwd, chart } = options;
  const directory = releasesDirectory(options);
  const releases = await readTimeline(directory, { stack, cwd });
  if (chart !== undefined) {
    const image = await draw(chart, releases, stack);
    if (image === undefined)
      throw new Error("The history contains no quality of a live model, so there is nothing to draw.");
    writeOutputFile(chart, image);
  }
  print(options, { releases, ...(chart !== undefined && { chart }) }, () => {
    const drawn = chart === undefined ? "" : `\nChart: ${chart}\n`;
    return `${releases.length > 0 ? historyTable(releases) : noReleases}${drawn}`;
  });
}

async function draw(
  file: string,
  releases: readonly TimelineEntry[],
  stack = "all stacks",
): Promise<string | undefined> {
  const { qualityChart } = await import("../release/quality-chart.js");
  if (/\.svg$/i.test(file)) return qualityChart(releases);
  const { qualityDiagrams } = await import("../release/quality-diagram.js");
  const { inline, markerOf } = await import("../drift/render/markdown.js");
  const diagrams = qualityDiagrams(releases);
  const project = releases[0]?.project ?? "";
  return (
    diagrams &&
    `### Quality of ${inline(stack)} over time\n\n${diagrams}\n${markerOf({ project, stack }, "releases")}\n`
  );
}

const noReleases = "There is no release yet. Write the first with `recommender release STACK`.\n";

function historyTable(releases: readonly TimelineEntry[]): string {
  return table(
    ["RELEASE", "BEGAN (UTC)", "ACTION", "BY", "COMMIT", "NDCG@20", "RESULT"],
    releases.map((entry) => [
      entry.id,
      entry.beganAt.slice(0, 16).replace("T", " "),
      entry.from ? `${entry.action} ${entry.from.release}` : entry.action,
      entry.author ?? "",
      `${(entry.commit ?? "none").slice(0, 7)}${entry.dirty ? "+" : ""}`,
      entry.deployed.map(({ quality }) => quality?.ndcgAt20?.toFixed(4) ?? "–").join(" "),
      resultText(entry),
    ]),
  );
}

/** Describes how an entry ended, in a few words: the table has little space, and the JSON has the details. */
function resultText({ status, allowed, gates, checks }: TimelineEntry): string {
  const failed = Object.values(checks).some((result) => result !== "passed");
  const overridden = gates.filter(({ state }) => state === "overridden");
  const parts = [
    status,
    ...(allowed.length > 0 ? [`${allowed.length} allowed`] : []),
    ...(overridden.length > 0 ? [`${overridden.length} overridden`] : []),
    ...(status === "done" && failed ? ["check failed"] : []),
  ];
  return parts.join(", ");
}
