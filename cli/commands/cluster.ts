import type { Command } from "commander";
import { z } from "zod";
import { routes } from "../../contract";
import {
  type ResultJobOptions,
  resultJobCommand,
  resultJobExitCodes,
  runResultJob,
  saveUnknownResult,
} from "../jobs/result-job";
import { table } from "../terminal/layout";
import { wholeNumber } from "../terminal/option-values";
import { formatCount, formatNumber, print } from "../terminal/output";

const help = `${resultJobExitCodes}

Examples:
  recommender cluster --stack dev
  recommender cluster --project ID --model ID --min-users 50 --out groups.json`;

/** Adds `recommender cluster`. */
export function addCluster(program: Command): void {
  resultJobCommand(program, "cluster", "Group users with similar preferences.", help)
    .option("--min-users <number>", "leave out groups with fewer users", wholeNumber(1), 1)
    .action(cluster);
}

async function cluster(options: ResultJobOptions & { readonly minUsers: number }): Promise<void> {
  await runResultJob(
    options,
    routes.submitClusteringJob,
    (common) => ({ ...common, clusterType: "user", parameters: { minUserNum: options.minUsers } }),
    async (finished) => {
      const { json } = finished;
      const known = groupings.safeParse(json);
      if (!known.success) return saveUnknownResult(finished, options);
      print(options, { jobId: finished.jobId, result: json }, () => describe(known.data.groups));
    },
  );
}

/** Result format of the service in this package. The API specification does not define one. */
const groupings = z.object({
  groups: z.array(
    z.object({
      size: z.number(),
      markers: z.array(
        z.object({ attribute: z.string(), value: z.string(), share: z.number(), overall_share: z.number() }),
      ),
    }),
  ),
});

type Group = z.output<typeof groupings>["groups"][number];

function describe(groups: readonly Group[]): string {
  const users = groups.reduce((sum, { size }) => sum + size, 0);
  const rows = groups.flatMap(({ size, markers }, at) => {
    const marks = markers.slice(0, 3).map(({ attribute, value, share, overall_share }) => {
      return `${attribute} = ${value}: ${percent(share)} of usage, ${percent(overall_share)} of all users'`;
    });
    return (marks.length > 0 ? marks : ["no distinctive attribute"]).map((mark, line) =>
      line === 0 ? [String(at + 1), formatNumber(size), mark] : ["", "", mark],
    );
  });
  const head = `${formatCount(groups.length, "group")} of ${formatCount(users, "user")}\n`;
  return groups.length === 0 ? head : `${head}\n${table(["GROUP", "USERS", "MARKED BY"], rows)}`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
