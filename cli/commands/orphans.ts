import type { Command } from "commander";
import type { Client } from "../../client/client";
import { type Reply, routes } from "../../contract";
import { formatOrigin } from "../../contract/origin";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { table } from "../terminal/layout";
import { examples, forEachReported, formatCount, print, printDeleted } from "../terminal/output";

type Orphan = Reply<typeof routes.listOrphans>["orphans"][number];

interface DeleteOptions extends ServiceOptions {
  readonly all?: true;
  readonly yes?: true;
}

const about = `
A replacement leaves the old user dataset, item dataset, project or algorithm
behind, because the API cannot delete it. The service of this package lists
these objects.`;

const listHelp = `${about}

Examples:
  recommender orphans list --stack dev
  recommender orphans list --json`;

const deleteHelp = `${about} A project is deleted with its algorithms, models and jobs, and
a dataset with its records. Objects that another stack still uses are never
deleted. With --stack, --all deletes only the orphans of that stack; otherwise
the orphans of all stacks.

Examples:
  recommender orphans delete ID ID --stack dev
  recommender orphans delete --all --stack dev`;

/** Adds `recommender orphans`. */
export function addOrphans(program: Command): void {
  const orphans = program
    .command("orphans")
    .description("List and delete objects that replacements left behind.")
    .addHelpText("after", examples("orphans list", "orphans delete --all --stack dev"));
  serviceCommand(orphans, "list", "List orphaned datasets, projects and algorithms.", listHelp).action(list);
  serviceCommand(orphans, "delete [ids...]", "Permanently delete orphaned objects.", deleteHelp)
    .option("--all", "delete all orphans; with --stack, all orphans of the stack")
    .option("--yes", "skip the confirmation")
    .action(remove);
}

async function list(options: ServiceOptions): Promise<void> {
  await usingService(options, async ({ client }) => {
    const orphans = await orphansOf(client);
    print(options, { orphans }, () =>
      orphans.length === 0
        ? "There are no orphans\n"
        : table(
            ["KIND", "ID", "NAME", "LEFT BY", "SINCE"],
            orphans.map(({ objectType, objectId, name, orphanedBy, orphanedTs }) => [
              kindOf(objectType),
              objectId,
              name,
              orphanedBy ?? "unknown",
              new Date(orphanedTs).toISOString().slice(0, 10),
            ]),
          ),
    );
  });
}

async function remove(ids: readonly string[], options: DeleteOptions): Promise<void> {
  await usingService(options, async ({ client, stack }) => {
    const orphans = await orphansOf(client);
    assertOrphaned(ids, orphans, options);
    const ofStack = stack && formatOrigin({ project: stack.project, stack: stack.name, resource: "" });
    const wanted = orphans.filter(({ objectId, orphanedBy }) =>
      options.all ? !ofStack || orphanedBy?.startsWith(ofStack) : ids.includes(objectId),
    );
    if (wanted.length > 0) {
      const names = wanted.map(
        ({ objectType, name, objectId }) => `${kindOf(objectType)} ${name} (${objectId})`,
      );
      const question = `Permanently delete ${formatCount(wanted.length, "orphaned object")}: ${names.join(", ")}?`;
      await confirm(question, options.yes);
    }
    // Delete projects first, because a dataset cannot be deleted while a project uses it.
    await forEachReported(
      [...wanted].sort((a, b) => rank(a) - rank(b)),
      ({ objectType, objectId }) => client.call(routes.deleteOrphan, { objectType, objectId }),
      (deleted) =>
        printDeleted(
          options,
          deleted.map(({ objectId }) => objectId),
        ),
    );
  });
}

async function orphansOf(client: Client): Promise<readonly Orphan[]> {
  if (!(await client.supports(routes.listOrphans)))
    throw new Error(
      `The service at ${client.baseUrl} does not list orphans. Only the service of this package does.`,
    );
  return (await client.call(routes.listOrphans, {})).orphans;
}

function assertOrphaned(ids: readonly string[], orphans: readonly Orphan[], { all }: DeleteOptions): void {
  if (!all && ids.length === 0)
    throw new Error("Pass the ids to delete, or --all. `recommender orphans list` shows the ids.");
  const unknown = ids.filter((id) => !orphans.some(({ objectId }) => objectId === id));
  if (unknown.length > 0)
    throw new Error(
      `Not orphaned: ${unknown.join(", ")}. Nothing was deleted. \`recommender orphans list\` shows the ids.`,
    );
}

function rank({ objectType }: Orphan): number {
  return objectType === "PROJECT" ? 0 : 1;
}

function kindOf(objectType: Orphan["objectType"]): string {
  return objectType.toLowerCase().replace("_", " ");
}
