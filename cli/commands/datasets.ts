import type { Command } from "commander";
import { routes } from "../../contract";
import { type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { table } from "../terminal/layout";
import { examples, forEachReported, note, print, printDeleted } from "../terminal/output";

const help = `
The API lists event datasets only. With --stack, the user and item datasets that
the stack created are listed too.

Examples:
  recommender datasets list
  recommender datasets list --stack dev`;

const deleteHelp = `
The API cannot delete user and item datasets. If a program declares an event
dataset, remove it from the program instead.

Examples:
  recommender datasets delete ID --stack dev
  recommender datasets delete ID ID --yes`;

interface Row {
  readonly kind: "user" | "item" | "event";
  readonly id: string;
  readonly name: string | null;
  readonly numShards: number | null;
  readonly attributeSchema: Readonly<Record<string, string>> | null;
}

/** Adds `recommender datasets`. */
export function addDatasets(program: Command): void {
  const datasets = program
    .command("datasets")
    .description("List datasets, and delete event datasets.")
    .addHelpText("after", examples("datasets list --stack dev", "datasets delete --help"));
  serviceCommand(datasets, "list", "List the datasets.", help).action(list);
  const deletion = "Permanently delete event datasets with all their events.";
  serviceCommand(datasets, "delete <ids...>", deletion, deleteHelp)
    .option("--yes", "skip the confirmation")
    .action(remove);
}

async function list(options: ServiceOptions): Promise<void> {
  await usingService(options, async ({ client, stack }) => {
    const { eventDatasets } = await client.call(routes.listEventDatasets, {});
    const events = eventDatasets.map(({ eventDatasetId, name, numShards, attributeSchema }): Row => {
      return { kind: "event", id: eventDatasetId, ...details({ name, numShards, attributeSchema }) };
    });
    const declared = (["user", "item"] as const).flatMap((kind) =>
      (stack?.resources ?? [])
        .filter(({ type }) => type.toLowerCase() === `${kind}dataset`)
        .map(({ id, outputs }): Row => ({ kind, id, ...details(outputs) })),
    );
    const rows = [...declared, ...events];
    print(options, { datasets: rows }, () => {
      if (!stack)
        note("The API lists event datasets only. --stack NAME adds user and item datasets of a stack.");
      if (rows.length === 0) return "There are no datasets.\n";
      const cells = rows.map(({ kind, id, name, numShards, attributeSchema }) => {
        const schema = Object.entries(attributeSchema ?? {}).map((entry) => entry.join(": ").toLowerCase());
        return [kind, id, name ?? "", String(numShards ?? ""), schema.join(", ") || "inferred"];
      });
      return table(["KIND", "ID", "NAME", "SHARDS", "ATTRIBUTES"], cells);
    });
  });
}

async function remove(given: readonly string[], options: ServiceOptions & { yes?: true }): Promise<void> {
  await usingService(options, async (opened) => {
    const ids = given.map((id) => opened.resolveId("EventDataset", id, "dataset"));
    await confirm(`Delete ${ids.join(", ")} and all events in them?`, options.yes);
    const { client } = opened;
    const { deleteExisting } = await import("../../client/deletion.js");
    const deleteOne = (eventDatasetId: string) =>
      deleteExisting(
        (sending) => client.call(routes.deleteEventDataset, { eventDatasetId }, sending),
        () => client.call(routes.getEventDataset, { eventDatasetId }),
      );
    await forEachReported(ids, deleteOne, (deleted) => printDeleted(options, deleted));
  });
}

function details(dataset: Readonly<Record<string, unknown>>): Omit<Row, "kind" | "id"> {
  const { name = null, numShards = null, attributeSchema = null } = dataset;
  return { name, numShards, attributeSchema } as Omit<Row, "kind" | "id">;
}
