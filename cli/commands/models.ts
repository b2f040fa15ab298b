import type { Command } from "commander";
import { type Reply, routes } from "../../contract";
import { type OpenService, type ServiceOptions, usingService, withService } from "../stack/service";
import { confirm } from "../terminal/confirm";
import { escapeControls, propertyList, table } from "../terminal/layout";
import { formatTime, print } from "../terminal/output";
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
    .addHelpText(
      "after",
      "\nExamples:\n  recommender models list --stack dev\n  recommender models delete --help",
    );
  const command = (usage: string, description: string, examples: string) =>
    withService(models.command(usage).description(description))
      .option("--project <id>", "project of the model; with --stack its name, or the only one")
      .addHelpText("after", `\nExamples:\n  ${examples}`);

  command(
    "list",
    "List the models of a project.",
    "recommender models list --project ID\n  recommender models list --stack dev --json",
  ).action(list);

  command(
    "get <model>",
    "Show one model.",
    "recommender models get ID --project ID\n  recommender models get model --stack dev",
  ).action(get);

  command(
    "rename <model> <name>",
    "Give a model another name; nothing else of it can be changed.",
    "recommender models rename ID 'autumn 2026' --project ID",
  ).action(rename);

  command(
    "delete <models...>",
    "Delete models for good. A model that serves cannot be deleted.",
    "recommender models delete ID --project ID\n  recommender models delete ID ID --stack dev --yes",
  )
    .option("--yes", "do not ask")
    .action(remove);
}

const projectOf = ({ resolveId }: OpenService, { project }: ModelOptions) =>
  resolveId("Project", project, "--project");

async function list(options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const { models: listed } = await opened.client.call(routes.listModels, {
      projectId: projectOf(opened, options),
    });
    const models = listed.map((model) => ({ ...model, ...knownOf(model, opened) }));
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

/** The quality of each model, next to the figures to judge it by. */
function tableWithQuality(models: readonly Known[]): string {
  const figure = (value: number | null | undefined) => value?.toFixed(4) ?? "";
  const rows = models.map(({ modelId, name, createdTs, quality, servedBy = [] }) => [
    ...[modelId, name ?? "", formatTime(createdTs)?.slice(0, 10) ?? ""],
    ...[figure(quality?.ndcgAt20), figure(quality?.popularityNdcgAt20), String(quality?.heldOutPairs ?? "")],
    servedBy.join(", "),
  ]);
  return table(["ID", "NAME", "CREATED", "NDCG@20", "POPULAR", "PAIRS", "SERVES"], rows);
}

async function get(given: string, options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelId = opened.resolveId("Model", given, "model");
    const found = await opened.client.call(routes.getModel, { projectId, modelId });
    const model = { ...found, ...knownOf(found, opened) };
    print(options, model, () => describe(model));
  });
}

async function rename(given: string, name: string, options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelId = opened.resolveId("Model", given, "model");
    const model = await opened.client.call(routes.updateModel, { projectId, modelId, name });
    print(options, model, () => `Renamed ${modelId} to ${escapeControls(model.name ?? name)}\n`);
  });
}

async function remove(given: readonly string[], options: ModelOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const projectId = projectOf(opened, options);
    const modelIds = given.map((one) => opened.resolveId("Model", one, "model"));
    await confirm(`Delete ${modelIds.join(", ")}?`, options.yes);
    const deleted: string[] = [];
    try {
      for (const modelId of modelIds) {
        await opened.client.call(routes.deleteModel, { projectId, modelId });
        deleted.push(modelId);
      }
    } finally {
      // What is gone is reported also where a later one could not be deleted.
      print(options, { deleted }, () => deleted.map((id) => `Deleted ${id}\n`).join(""));
    }
  });
}

/** A model with what the state of a stack adds to it. */
interface Known extends Model {
  /** Deployments of the stack that serve it. */
  readonly servedBy?: readonly string[];
}

function knownOf(model: Model, { stack }: OpenService): Pick<Known, "quality" | "servedBy"> {
  if (!stack) return {};
  const { modelId } = model;
  // A service may report no quality. The state has it for the models that the stack still declares.
  const inState = stack.resources.find(({ type, id }) => type === "Model" && id === modelId)?.outputs.quality;
  const quality = model.quality ?? (inState as Model["quality"]);
  const servedBy = stack.resources.filter(
    ({ type, outputs }) =>
      type === "Deployment" && [outputs.generatorModelId, outputs.rankerModelId].includes(modelId),
  );
  return { ...(quality && { quality }), servedBy: servedBy.map(({ name }) => name) };
}

function describe(model: Known): string {
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
