import type { Command } from "commander";
import type { Client } from "../../client/client";
import { type Reply, routes } from "../../contract";
import { formatOrigin } from "../../contract/origin";
import { type ServiceOptions, usingService, withService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { table } from "../terminal/layout";
import { formatCount, print } from "../terminal/output";

type Orphan = Reply<typeof routes.listOrphans>["orphans"][number];

interface DeleteOptions extends ServiceOptions {
  readonly all?: true;
  readonly yes?: true;
}

const about = `
A replacement leaves the old user dataset, item dataset, project or algorithm
behind, because the API cannot delete them. The service of this package keeps a
list of them.`;

const listHelp = `${about}

Examples:
  recommender orphans list --stack dev
  recommender orphans list --json`;

const deleteHelp = `${about} A project is deleted with its algorithms, models and jobs, a
dataset with its records. What another stack still uses is never deleted. With
--stack, --all deletes only what that stack left behind; without it, what any
stack left behind.

Examples:
  recommender orphans delete ID ID --stack dev
  recommender orphans delete --all --stack dev`;

/** Adds `recommender orphans`. */
export function addOrphans(program: Command): void {
  const orphans = program
    .command("orphans")
    .description("List and delete what replacements left behind.")
    .addHelpText(
      "after",
      "\nExamples:\n  recommender orphans list\n  recommender orphans delete --all --stack dev",
    );
  withService(orphans.command("list").description("List orphaned datasets, projects and algorithms."))
    .addHelpText("after", listHelp)
    .action(list);
  withService(orphans.command("delete [ids...]").description("Delete orphaned objects for good."))
    .option("--all", "delete all orphans, or with --stack all that this stack left behind")
    .option("--yes", "do not ask")
    .addHelpText("after", deleteHelp)
    .action(remove);
}

async function list(options: ServiceOptions): Promise<void> {
  await usingService(options, async ({ client }) => {
    const orphans = await orphansOf(client);
    print(options, { orphans }, () =>
      orphans.length === 0
        ? "Nothing is orphaned\n"
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
    refuseUnknown(ids, orphans, options);
    const ofStack = stack && formatOrigin({ project: stack.project, stack: stack.name, resource: "" });
    const wanted = orphans.filter(({ objectId, orphanedBy }) =>
      options.all ? !ofStack || orphanedBy?.startsWith(ofStack) : ids.includes(objectId),
    );
    if (wanted.length > 0) {
      const names = wanted.map(
        ({ objectType, name, objectId }) => `${kindOf(objectType)} ${name} (${objectId})`,
      );
      const question = `Delete ${formatCount(wanted.length, "orphaned object")} for good: ${names.join(", ")}?`;
      await confirm(question, options.yes);
    }
    const deleted: string[] = [];
    try {
      // Projects first: they keep the datasets that they use from being deleted.
      for (const { objectType, objectId } of [...wanted].sort((a, b) => rank(a) - rank(b))) {
        await client.call(routes.deleteOrphan, { objectType, objectId });
        deleted.push(objectId);
      }
    } finally {
      print(options, { deleted }, () =>
        deleted.length === 0 ? "Deleted nothing\n" : deleted.map((id) => `Deleted ${id}\n`).join(""),
      );
    }
  });
}

async function orphansOf(client: Client): Promise<readonly Orphan[]> {
  if (!(await client.supports(routes.listOrphans)))
    throw new Error(
      `The service at ${client.baseUrl} keeps no list of orphans; only the service of this package does.`,
    );
  return (await client.call(routes.listOrphans, {})).orphans;
}

function refuseUnknown(ids: readonly string[], orphans: readonly Orphan[], { all }: DeleteOptions): void {
  if (!all && ids.length === 0) throw new Error("Name the objects to delete, or pass --all.");
  const unknown = ids.filter((id) => !orphans.some(({ objectId }) => objectId === id));
  if (unknown.length > 0)
    throw new Error(
      `Not orphaned: ${unknown.join(", ")}. Nothing was deleted. Run \`recommender orphans list\`.`,
    );
}

function rank({ objectType }: Orphan): number {
  return objectType === "PROJECT" ? 0 : 1;
}

function kindOf(objectType: Orphan["objectType"]): string {
  return objectType.toLowerCase().replace("_", " ");
}
