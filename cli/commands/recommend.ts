import type { Command } from "commander";
import { type Opened, type ServiceOptions, usingService, withService } from "../stack/service";
import { table } from "../terminal/layout";
import { list, whole } from "../terminal/option-values";
import { counted, note, print } from "../terminal/output";

interface RecommendOptions extends ServiceOptions {
  readonly limit: number;
  readonly attributes: readonly string[];
  readonly deployment?: string;
  readonly servingUri?: string;
}

const help = `
Where several projects serve, the call needs the address of the one that is
meant: --serving-uri, or --stack with --deployment.

Examples:
  recommender recommend ada
  recommender recommend ada --limit 5 --attributes title,genre
  recommender recommend ada --stack dev --deployment live --json`;

/** Adds `recommender recommend`. */
export function addRecommend(program: Command): void {
  withService(program.command("recommend").description("Ask for recommendations for a user."))
    .argument("<user>", "id of the user; one without events gets items by attributes, else popular ones")
    .option("--limit <number>", "items to ask for", whole(1), 10)
    .option("--attributes <names>", "item attributes to show, separated by commas", list, [])
    .option("--deployment <name>", "deployment in the stack; the only one unless given")
    .option("--serving-uri <url>", "address of the project's recommendation service")
    .addHelpText("after", help)
    .action(recommend);
}

async function recommend(userId: string, options: RecommendOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const { recommendItems } = await import("../../client/serving.js");
    const attributes = [...options.attributes];
    const input = { userId, limit: options.limit, attributes };
    const reply = await recommendItems(opened.client, input, servingUri(opened, options));
    print(options, reply, () => {
      if (reply.results.length === 0) return `There is nothing to recommend to ${userId}.\n`;
      const rows = reply.results.map(({ item }, at) => [
        String(at + 1),
        item.itemId,
        ...attributes.map((name) => cell(item.attributes[name])),
      ]);
      if (reply.results.length < options.limit) note(`Only ${counted(reply.results.length, "item")} came.`);
      return table(["#", "ITEM", ...attributes.map((name) => name.toUpperCase())], rows);
    });
  });
}

function servingUri({ stack, idOf }: Opened, options: RecommendOptions): string | undefined {
  if (options.servingUri !== undefined) return options.servingUri;
  if (!stack) {
    if (options.deployment !== undefined)
      throw new Error("--deployment names one of a stack: give --stack too.");
    return undefined;
  }
  const id = idOf("Deployment", options.deployment, "--deployment");
  const found = stack.resources.find((one) => one.type === "Deployment" && one.id === id);
  if (!found)
    throw new Error(`--deployment ${options.deployment}: stack ${stack.name} has none of this name.`);
  return found.outputs.servingUri as string | undefined;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(cell).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
