import type { Command } from "commander";
import { type Reply, routes } from "../../contract";
import { type OpenService, type ServiceOptions, serviceCommand, usingService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { escapeControls, propertyList, table } from "../terminal/layout";
import { examples, forEachReported, formatTime, print, printDeleted } from "../terminal/output";
import { exposureProperties, qualityText } from "../terminal/quality";

type Model = Reply<typeof routes.getModel>;

interface ModelOptions extends ServiceOptions {
  readonly project?: string;
  readonly yes?: true;
}

/** Adds `recommender models`. */
export function addModels(program: Command): void {
  const models = program
    .command("models")
    .description("List, show, rename and delete models.")
    .addHelpText("after", examples("models list --stack dev", "models delete --help"));
  const command = (usage: string, description: string, ...calls: readonly string[]) =>
    serviceCommand(models, usage, description, examples(...calls)).option(
      "--project <id>",
      "project of the model; with --stack its name, or the only one",
    );
  command(
    "list",
    "List the models of a project.",
    "models list --project ID",
    "models list --stack dev --json",
  ).action(list);
  command(
    "get <model>",
    "Show one model.",
    "models get ID --project ID",
    "models get model --stack dev",
  ).action(get);
  command(
    "rename <model> <name>",
    "Rename a model. Its other fields cannot be changed.",
    "models rename ID 'autumn 2026' --project ID",
  ).action(rename);
  command(
    "delete <models...>",
    "Permanently delete models. A live model cannot be deleted.",
    "models delete ID --project ID",
    "models delete ID ID --stack dev --yes",
  )
    .option("--yes", "skip the confirmation")
    .action(remove);
}

const projectOf = ({ resolveId }: OpenService, { project }: ModelOptions) =>
  resolveId("Project", project, "--project");

async function list(options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const { models: listed } = await opened.client.call(routes.listModels, { projectId });
    const models = listed.map((model) => ({ ...model, ...stateOf(model, opened) }));
    print(options, { models }, () => {
      if (models.length === 0) return "There are no models.\n";
      return opened.stack ? tableWithQuality(models) : plainTable(models);
    });
  });
}

function plainTable(models: readonly Model[]): string {
  const rows = models.map(({ modelId, name, algorithmType, createdTs }) => {
    return [modelId, name ?? "", algorithmType ?? "", formatTime(createdTs) ?? ""];
  });
  return table(["ID", "NAME", "ALGORITHM", "CREATED"], rows);
}

/**
 * Formats a table of models with their quality, the quality of popular items, and the deployments that use each model.
 */
function tableWithQuality(models: readonly ModelWithState[]): string {
  const figure = (value: number | null | undefined) => value?.toFixed(4) ?? "";
  const rows = models.map(({ modelId, name, createdTs, quality, servedBy = [] }) => [
    modelId,
    name ?? "",
    formatTime(createdTs)?.slice(0, 10) ?? "",
    figure(quality?.ndcgAt20),
    figure(quality?.popularityNdcgAt20),
    String(quality?.heldOutPairs ?? ""),
    servedBy.join(", "),
  ]);
  return table(["ID", "NAME", "CREATED", "NDCG@20", "POPULAR", "PAIRS", "SERVES"], rows);
}

async function get(given: string, options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelId = opened.resolveId("Model", given, "model");
    const found = await opened.client.call(routes.getModel, { projectId, modelId });
    const model = { ...found, ...stateOf(found, opened) };
    print(options, model, () => describe(model));
  });
}

async function rename(given: string, name: string, options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelId = opened.resolveId("Model", given, "model");
    const { client } = opened;
    const { applyChange } = await import("../../client/change.js");
    const model = await applyChange({
      object: `model ${modelId}`,
      sent: { name },
      send: (sending) => client.call(routes.updateModel, { projectId, modelId, name }, sending),
      read: () => client.call(routes.getModel, { projectId, modelId }),
      reported: (found) => (found.name == null ? {} : { name: found.name }),
      fix: () => "Run the same command again.",
    });
    print(options, model, () => `Renamed ${modelId} to ${escapeControls(model.name ?? name)}\n`);
  });
}

async function remove(given: readonly string[], options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelIds = given.map((id) => opened.resolveId("Model", id, "model"));
    await confirm(`Delete ${modelIds.join(", ")}?`, options.yes);
    const { client } = opened;
    const { deleteExisting } = await import("../../client/deletion.js");
    const deleteOne = (modelId: string) =>
      deleteExisting(
        (sending) => client.call(routes.deleteModel, { projectId, modelId }, sending),
        () => client.call(routes.getModel, { projectId, modelId }),
      );
    await forEachReported(modelIds, deleteOne, (deleted) => printDeleted(options, deleted));
  });
}

/** A model, with information from the stack's state. */
interface ModelWithState extends Model {
  /** Names of the stack's deployments that use the model. */
  readonly servedBy?: readonly string[];
}

function stateOf(model: Model, { stack }: OpenService): Pick<ModelWithState, "quality" | "servedBy"> {
  if (!stack) return {};
  const { modelId } = model;
  // Not every service reports the quality of a model. For models that the stack declares, the state contains it.
  const inState = stack.resources.find(({ type, id }) => type === "Model" && id === modelId)?.outputs.quality;
  const quality = model.quality ?? (inState as Model["quality"]);
  const servedBy = stack.resources.filter(
    ({ type, outputs }) =>
      type === "Deployment" && [outputs.generatorModelId, outputs.rankerModelId].includes(modelId),
  );
  return { ...(quality && { quality }), servedBy: servedBy.map(({ name }) => name) };
}

function describe(model: ModelWithState): string {
  const parameters = Object.entries(model.algorithmParameters ?? {});
  return propertyList([
    ["id", model.modelId],
    ["name", model.name ?? undefined],
    ["project", model.projectId ?? undefined],
    ["algorithm", model.algorithmType ?? undefined],
    ["created", formatTime(model.createdTs)],
    ["NDCG@20", qualityText(model.quality ?? {})],
    ...exposureProperties(model.quality ?? {}),
    ["served by", model.servedBy?.join(", ") || undefined],
    ...parameters.map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
  ]);
}
