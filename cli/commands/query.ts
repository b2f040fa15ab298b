import { type Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { routes, tolerant, userListQuery } from "../../contract";
import { parseResult } from "../jobs/job-result";
import {
  type ResultJobOptions,
  resultJobExitCodes,
  runResultJob,
  saveUnknownResult,
  withResultJob,
} from "../jobs/result-job";
import { exitCodes } from "../terminal/exit";
import { readJsonFile } from "../terminal/json-file";
import { escapeControls } from "../terminal/layout";
import { formatCount, print } from "../terminal/output";

type ListQuery = z.input<typeof userListQuery>;
type Condition = ListQuery["conditions"][number];

interface QueryOptions extends ResultJobOptions {
  readonly where?: readonly Condition[];
  readonly file?: string;
}

/** Users that are named on the terminal; all of them are in the file or the JSON. */
const named = 20;

const help = `
Usage is how much of what a user does goes to items that have the value; the
embedded service gives it as a share from 0 to 1. A condition is
ATTRIBUTE=VALUE, ATTRIBUTE=VALUE:LEAST.., ATTRIBUTE=VALUE:..MOST or both; a
user must meet all of them. --file takes several queries, or values that are no
text, as JSON: [{"conditions": [{"attribute": "year", "value": 1999,
"lowerBound": 0.5}]}]. For a value that no item has, the nearest ones are
named, and the exit code is 1.
${resultJobExitCodes}

Examples:
  recommender query --stack dev --where genre=jazz:0.5..
  recommender query --project ID --model ID --where genre=jazz:0.5.. \\
    --where genre=folk:..0.1 --out users.json
  recommender query --stack dev --file queries.json --json`;

/** Adds `recommender query`. */
export function addQuery(program: Command): void {
  withResultJob(program.command("query").description("Find the users whose usage meets conditions."))
    .option("--where <condition>", "a condition on usage; may be repeated", condition)
    .addOption(new Option("--file <file>", "queries as JSON").conflicts("where"))
    .addHelpText("after", help)
    .action(query);
}

async function query(options: QueryOptions): Promise<void> {
  const queries = queriesOf(options);
  await runResultJob(
    options,
    routes.submitQueryingJob,
    (of) => ({ ...of, queryType: "user_list", queries }),
    async (answer) => {
      const json = parseResult(answer.result);
      const known = userLists.safeParse(json);
      if (!known.success) return saveUnknownResult(answer, options, json);
      const lists = known.data.queries.map(({ conditions = [], user_ids: users }, at) => {
        return { users, asked: queries[at], isAbsent: conditions.some((one) => one.item_count === 0) };
      });
      // Nobody uses what no item has, which says nothing about the users; the service's message says so.
      const answered = lists.filter(({ isAbsent }) => !isAbsent);
      if (answered.length < lists.length) process.exitCode = exitCodes.failed;
      print(options, { jobId: answer.jobId, result: json }, () =>
        answered.map(({ users, asked }) => describe(users, asked)).join("\n"),
      );
    },
  );
}

function queriesOf({ where, file }: QueryOptions): ListQuery[] {
  if (where) return [{ conditions: [...where] }];
  if (file === undefined) throw new Error("Say which users: --where ATTRIBUTE=VALUE, or --file FILE.");
  const read = z.array(tolerant(userListQuery)).min(1).safeParse(readJsonFile(file));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${file}: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
}

/** The result as the embedded service gives it; the specification shows no form. */
const userLists = z.object({
  queries: z.array(
    z.object({
      conditions: z.array(z.object({ item_count: z.number().optional() })).optional(),
      user_ids: z.array(z.string()),
    }),
  ),
});

function describe(users: readonly string[], asked: ListQuery | undefined): string {
  const conditions = (asked?.conditions ?? []).map(({ attribute, value, lowerBound, upperBound }) => {
    const range = [
      lowerBound === undefined ? "" : ` from ${lowerBound}`,
      upperBound === undefined ? "" : ` up to ${upperBound}`,
    ];
    return `${attribute} = ${value}${range.join("")}`;
  });
  const more = users.length - named;
  return [
    `${formatCount(users.length, "user")}: usage of ${conditions.join(", ")}`,
    ...users.slice(0, named).map((user) => `  ${escapeControls(user)}`),
    ...(more > 0 ? [`  and ${formatCount(more, "other")}; --out FILE or --json gives all`] : []),
    "",
  ].join("\n");
}

const form = /^(?<attribute>[^=]+)=(?<value>.*?)(?::(?<lower>-?[\d.]*?)\.\.(?<upper>-?[\d.]*))?$/s;

function condition(text: string, earlier: readonly Condition[] = []): Condition[] {
  const { attribute, value, lower, upper } = form.exec(text)?.groups ?? {};
  const [lowerBound, upperBound] = [bound(lower), bound(upper)];
  if (!attribute || value === undefined || Number.isNaN(lowerBound) || Number.isNaN(upperBound)) {
    throw new InvalidArgumentError("Expected ATTRIBUTE=VALUE:LEAST..MOST, as in genre=jazz:0.5..1.");
  }
  if (lowerBound !== undefined && upperBound !== undefined && lowerBound > upperBound)
    throw new InvalidArgumentError(`${lowerBound} is more than ${upperBound}.`);
  const bounds = {
    ...(lowerBound === undefined ? {} : { lowerBound }),
    ...(upperBound === undefined ? {} : { upperBound }),
  };
  return [...earlier, { attribute, value, ...bounds }];
}

function bound(text: string | undefined): number | undefined {
  return text ? Number(text) : undefined;
}
