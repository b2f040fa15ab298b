import { type Command, Option } from "commander";
import { z } from "zod";
import { routes, tolerant, userListQuery } from "../../contract";
import { issuesText } from "../../contract/messages";
import { type Condition, condition } from "../jobs/conditions";
import {
  type ResultJobOptions,
  resultJobCommand,
  resultJobExitCodes,
  runResultJob,
  saveUnknownResult,
} from "../jobs/result-job";
import { exitCodes } from "../terminal/exit";
import { readJsonFile } from "../terminal/json-file";
import { escapeControls } from "../terminal/layout";
import { formatCount, formatNumber, print } from "../terminal/output";

type ListQuery = z.input<typeof userListQuery>;

interface QueryOptions extends ResultJobOptions {
  readonly where?: readonly Condition[];
}

/** Maximum number of users printed for each query. --out and --json contain all users. */
const maxPrinted = 20;

const help = `
Usage is the share of a user's events that went to items with the value; in the
embedded service it is from 0 to 1. A condition is ATTRIBUTE=VALUE, with bounds
as in ATTRIBUTE=VALUE:MIN..MAX, where you can omit MIN or MAX. A user must meet
all conditions. For several queries, or for values that are not text, pass a
JSON file with --file: [{"conditions": [{"attribute": "year", "value": 1999,
"lowerBound": 0.5}]}]. If no item has a value, the command lists the nearest
values and ends with exit code 1.
${resultJobExitCodes}

Examples:
  recommender query --stack dev --where genre=jazz:0.5..
  recommender query --project ID --model ID --where genre=jazz:0.5.. \\
    --where genre=folk:..0.1 --out users.json
  recommender query --stack dev --file queries.json --json`;

/** Adds `recommender query`. */
export function addQuery(program: Command): void {
  resultJobCommand(program, "query", "Find users by their usage of item attribute values.", help)
    .option("--where <condition>", "a condition on usage; may be repeated", condition)
    .addOption(new Option("--file <file>", "queries as JSON").conflicts("where"))
    .action(query);
}

async function query(options: QueryOptions): Promise<void> {
  const queries = queriesOf(options);
  await runResultJob(
    options,
    routes.submitQueryingJob,
    (common) => ({ ...common, queryType: "user_list", queries }),
    async (finished) => {
      const { json } = finished;
      const parsed = userLists.safeParse(json);
      if (!parsed.success) return saveUnknownResult(finished, options);
      const lists = parsed.data.queries.map(({ conditions = [], user_ids: users }, at) => {
        return { users, query: queries[at], isUnknown: conditions.some((one) => one.item_count === 0) };
      });
      // If no item has a condition's value, the result means nothing. The service's message already says so.
      const known = lists.filter(({ isUnknown }) => !isUnknown);
      if (known.length < lists.length) process.exitCode = exitCodes.failed;
      print(options, { jobId: finished.jobId, result: json }, () =>
        known.map(({ users, query }) => describe(users, query)).join("\n"),
      );
    },
  );
}

function queriesOf({ where, file }: QueryOptions): ListQuery[] {
  if (where) return [{ conditions: [...where] }];
  if (file === undefined) throw new Error("Choose the users with --where ATTRIBUTE=VALUE, or --file FILE.");
  const read = z.array(tolerant(userListQuery)).min(1).safeParse(readJsonFile(file));
  if (read.success) return read.data;
  throw new Error(`${file}: ${issuesText(read.error.issues)}.`);
}

/** Result format of the service in this package. The API specification does not define one. */
const userLists = z.object({
  queries: z.array(
    z.object({
      conditions: z.array(z.object({ item_count: z.number().optional() })).optional(),
      user_ids: z.array(z.string()),
    }),
  ),
});

function describe(users: readonly string[], query: ListQuery | undefined): string {
  const conditions = (query?.conditions ?? []).map(({ attribute, value, lowerBound, upperBound }) => {
    const range = [
      lowerBound === undefined ? "" : ` from ${lowerBound}`,
      upperBound === undefined ? "" : ` up to ${upperBound}`,
    ];
    return `${attribute} = ${value}${range.join("")}`;
  });
  const more = users.length - maxPrinted;
  return [
    `${formatCount(users.length, "user")}: usage of ${conditions.join(", ")}`,
    ...users.slice(0, maxPrinted).map((user) => `  ${escapeControls(user)}`),
    ...(more > 0 ? [`  and ${formatNumber(more)} more; --out FILE or --json lists all`] : []),
    "",
  ].join("\n");
}
