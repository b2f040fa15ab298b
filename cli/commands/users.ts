import type { Command } from "commander";
import { routes } from "../../contract";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { examples, forEachReported, print } from "../terminal/output";
import { recordDeletion } from "./deletion";

interface ForgetOptions extends ServiceOptions {
  readonly eventDataset?: string;
  readonly userDataset?: string;
  readonly yes?: true;
}

const help = `
Deletes the users' events and records, and removes the users from all models,
results and rejected records of the projects that use these datasets. Only the
service of this package can delete records; for other services, use
\`events forget-user\`. Limits: docs/forgetting.md.

Examples:
  recommender users forget ada --stack dev
  recommender users forget ada ben --event-dataset ID --user-dataset ID --yes`;

/** Adds `recommender users`. */
export function addUsers(program: Command): void {
  const users = program
    .command("users")
    .description("Delete users from events, records and models.")
    .addHelpText("after", examples("users forget ada --stack dev"));
  const description = "Permanently delete all events and the records of users.";
  serviceCommand(users, "forget <users...>", description, help)
    .option("--event-dataset <id>", "event dataset; with --stack its name, or the only one")
    .option("--user-dataset <id>", "user dataset; with --stack its name, or the only one")
    .option("--yes", "skip the confirmation")
    .action(forget);
}

async function forget(users: readonly string[], options: ForgetOptions): Promise<void> {
  await usingService(options, async ({ client, resolveId }) => {
    const eventDatasetId = resolveId("EventDataset", options.eventDataset, "--event-dataset");
    const userDatasetId = resolveId("UserDataset", options.userDataset, "--user-dataset");
    if (!(await client.supports(routes.deleteDatasetUser)))
      throw new Error(
        `The service at ${client.baseUrl} cannot delete user records. Nothing was deleted. ` +
          "Run `recommender events forget-user` to delete only their events.",
      );
    const question = `Delete all events of ${users.join(", ")} in ${eventDatasetId}, and their records?`;
    await confirm(question, options.yes);
    for (const datasetId of [eventDatasetId, userDatasetId]) recordDeletion(client, datasetId);
    const deleteOne = async (userId: string) => {
      await client.call(routes.deleteDatasetUserEvents, { eventDatasetId, userId });
      await client.call(routes.deleteDatasetUser, { userDatasetId, userId });
    };
    await forEachReported(users, deleteOne, (forgotten) => {
      const line = (user: string) =>
        `Forgot ${user}: events in ${eventDatasetId}, record in ${userDatasetId}\n`;
      print(options, { eventDatasetId, userDatasetId, forgotten }, () => forgotten.map(line).join(""));
    });
  });
}
