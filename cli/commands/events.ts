import { type Command, InvalidArgumentError, Option } from "commander";
import { routes } from "../../contract";
import { timestampMs } from "../../records/mapping/timestamp";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { duration } from "../terminal/option-values";
import { defined, examples, forEachReported, formatTime, print } from "../terminal/output";
import { recordDeletion } from "./deletion";

interface EventOptions extends ServiceOptions {
  readonly dataset?: string;
  readonly yes?: true;
}

interface PruneOptions extends EventOptions {
  readonly before?: number;
  readonly olderThan?: number;
  readonly start?: number;
}

const dateForms = `
A date is an ISO date (UTC unless it has a time zone), or seconds or
milliseconds since 1970.`;

const pruneHelp = `${dateForms}

Examples:
  recommender events prune --dataset ID --before 2026-01-01
  recommender events prune --stack dev --older-than 90d --yes
  recommender events prune --dataset ID --start 2025-06-01 --before 2025-06-08`;

const forgetHelp = `
The service of this package also removes the users from all models, results and
rejected records. Their user records stay, but training ignores them.
\`recommender users forget\` deletes the records too. This also works after the
dataset was deleted. Limits: docs/forgetting.md.

Examples:
  recommender events forget-user ada --dataset ID
  recommender events forget-user ada ben --stack dev --dataset events --yes`;

/** Adds `recommender events`. */
export function addEvents(program: Command): void {
  const events = program
    .command("events")
    .description("Delete events by age or by user.")
    .addHelpText(
      "after",
      examples("events prune --stack dev --older-than 90d", "events forget-user ada --stack dev"),
    );
  const command = (usage: string, description: string, help: string) =>
    serviceCommand(events, usage, description, help)
      .option("--dataset <id>", "event dataset; with --stack its name, or the only one")
      .option("--yes", "skip the confirmation");

  command("prune", "Permanently delete events before a time.", pruneHelp)
    .addOption(
      new Option("--before <date>", "delete events before this time").argParser(date).conflicts("olderThan"),
    )
    .option("--older-than <time>", "delete events older than this, as in 90d or 12h", duration)
    .option("--start <date>", "keep events before this time", date)
    .action(prune);

  command("forget-user <users...>", "Permanently delete all events of users.", forgetHelp).action(forget);
}

async function prune(options: PruneOptions): Promise<void> {
  const { before, olderThan, start: startTs, yes } = options;
  const ts = before ?? (olderThan === undefined ? undefined : Date.now() - olderThan);
  if (ts === undefined)
    throw new Error("Choose the events to delete with --before DATE or --older-than DURATION, such as 90d.");
  if (ts < 0) throw new Error("--older-than reaches back before 1970. Choose a shorter duration.");
  if (startTs !== undefined && startTs >= ts)
    throw new Error(
      `--start ${formatTime(startTs)} is not before ${formatTime(ts)}. Choose an earlier --start.`,
    );
  await usingService(options, async ({ client, resolveId }) => {
    const eventDatasetId = resolveId("EventDataset", options.dataset, "--dataset");
    const range = `${startTs === undefined ? "" : `from ${formatTime(startTs)} `}before ${formatTime(ts)}`;
    await confirm(`Delete the events ${range} in ${eventDatasetId}?`, yes);
    recordDeletion(client, eventDatasetId);
    await client.call(routes.deleteDatasetEventsBeforeTs, { eventDatasetId, ts, ...defined({ startTs }) });
    print(
      options,
      { eventDatasetId, ts, startTs: startTs ?? 0 },
      () => `Deleted the events ${range} in ${eventDatasetId}\n`,
    );
  });
}

async function forget(users: readonly string[], options: EventOptions): Promise<void> {
  await usingService(options, async ({ client, resolveId }) => {
    const eventDatasetId = resolveId("EventDataset", options.dataset, "--dataset");
    await confirm(`Delete all events of ${users.join(", ")} in ${eventDatasetId}?`, options.yes);
    recordDeletion(client, eventDatasetId);
    const deleteOne = (userId: string) =>
      client.call(routes.deleteDatasetUserEvents, { eventDatasetId, userId });
    await forEachReported(users, deleteOne, (forgotten) =>
      print(options, { eventDatasetId, forgotten }, () =>
        forgotten.map((user) => `Deleted all events of ${user} in ${eventDatasetId}\n`).join(""),
      ),
    );
  });
}

function date(text: string): number {
  const expected = "Expected a date from 1970 on, such as 2026-01-31 or 2026-01-31T12:00Z.";
  try {
    const ms = timestampMs(text);
    if (ms >= 0) return ms;
  } catch (error) {
    throw new InvalidArgumentError(`Not a valid date: ${(error as Error).message}. ${expected}`);
  }
  throw new InvalidArgumentError(expected);
}
