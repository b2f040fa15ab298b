import type { Command } from "commander";
import type { Recommendation } from "../../client/serving";
import { explainHeader } from "../../contract";
import { type OpenService, type ServiceOptions, usingService, withService } from "../stack/service";
import { table } from "../terminal/layout";
import { commaSeparated, wholeNumber } from "../terminal/option-values";
import { formatCount, note, print } from "../terminal/output";

interface RecommendOptions extends ServiceOptions {
  readonly limit: number;
  readonly attributes: readonly string[];
  readonly deployment?: string;
  readonly servingUri?: string;
  readonly why?: boolean;
}

const help = `
Where several projects serve, the call needs the address of the one that is
meant: --serving-uri, or --stack with --deployment.

--why shows for each item up to three of the user's own items, or attributes
where there are no events, with what each adds to the score. A service that
knows only the specification does not say it.

Examples:
  recommender recommend ada
  recommender recommend ada --why
  recommender recommend ada --limit 5 --attributes title,genre
  recommender recommend ada --stack dev --deployment live --json`;

/** Adds `recommender recommend`. */
export function addRecommend(program: Command): void {
  withService(program.command("recommend").description("Ask for recommendations for a user."))
    .argument("<user>", "id of the user; one without events gets items by attributes, else popular ones")
    .option("--limit <number>", "items to ask for", wholeNumber(1), 10)
    .option("--attributes <names>", "item attributes to show, separated by commas", commaSeparated, [])
    .option("--why", "show what led to each item")
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
    const headers = options.why ? { [explainHeader]: "3" } : {};
    const reply = await recommendItems(opened.client, input, servingUri(opened, options), headers);
    print(options, reply, () => {
      if (reply.results.length === 0) return `There is nothing to recommend to ${userId}.\n`;
      const rows = reply.results.map(({ item, why }, at) => [
        String(at + 1),
        item.itemId,
        ...attributes.map((name) => cell(item.attributes[name])),
        ...(options.why ? [reasonsOf(why)] : []),
      ]);
      if (reply.results.length < options.limit)
        note(`Only ${formatCount(reply.results.length, "item")} came.`);
      if (options.why) note(basisOf(reply.basis, userId));
      const headings = attributes.map((name) => name.toUpperCase());
      return table(["#", "ITEM", ...headings, ...(options.why ? ["WHY"] : [])], rows);
    });
  });
}

type Result = Recommendation["results"][number];

function reasonsOf(why: Result["why"]): string {
  const { items = [], attributes = [] } = why ?? {};
  const parts = [
    ...items.map(({ itemId, adds }) => ({ name: itemId, adds })),
    ...attributes.map(({ attribute, adds }) => ({ name: attribute, adds })),
  ];
  return parts.map(({ name, adds }) => `${name} +${adds.toPrecision(2)}`).join(", ");
}

const bases = {
  events: "events",
  training: "what the model learned before the events were deleted",
  attributes: "attributes, for there are no events that the model knows",
  popularity: "nothing: these are popular items",
};

function basisOf(basis: Recommendation["basis"], userId: string): string {
  if (!basis) return "The service does not say why.";
  const by = `${userId} is known by ${bases[basis.from]}.`;
  return basis.rankedBy ? `${by} Model ${basis.rankedBy} has put the items in another order.` : by;
}

function servingUri({ stack, resolveId }: OpenService, options: RecommendOptions): string | undefined {
  if (options.servingUri !== undefined) return options.servingUri;
  if (!stack) {
    if (options.deployment !== undefined)
      throw new Error("--deployment names one of a stack: give --stack too.");
    return undefined;
  }
  const id = resolveId("Deployment", options.deployment, "--deployment");
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
