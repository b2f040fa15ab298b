import type { Command } from "commander";
import type { Client } from "../../client/client";
import type { Recommendation } from "../../client/serving";
import { explainHeader } from "../../contract";
import { type OpenService, type ServiceOptions, serviceCommand, usingService } from "../stack/service";
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
Users without events get items by their attributes, or else popular items. If
several projects have a deployment, select one with --serving-uri, or with
--stack and --deployment.

--why shows for each item up to three of the user's items and their contribution
to the score. For users without events it shows attributes. This is an extension
of the service in this package.

Examples:
  recommender recommend ada
  recommender recommend ada --why
  recommender recommend ada --limit 5 --attributes title,genre
  recommender recommend ada --stack dev --deployment live --json`;

/** Adds `recommender recommend`. */
export function addRecommend(program: Command): void {
  serviceCommand(program, "recommend", "Get recommendations for a user.", help)
    .argument("<user>", "id of the user")
    .option("--limit <number>", "number of items", wholeNumber(1), 10)
    .option("--attributes <names>", "comma-separated item attributes to show", commaSeparated, [])
    .option("--why", "explain each item")
    .option("--deployment <name>", "deployment in the stack (default: the only one)")
    .option("--serving-uri <url>", "address of the deployment")
    .action(recommend);
}

async function recommend(userId: string, options: RecommendOptions): Promise<void> {
  await usingService(options, async (opened) => {
    const { currentServingUri, recommendItems } = await import("../../client/serving.js");
    const attributes = [...options.attributes];
    const input = { userId, limit: options.limit, attributes };
    const headers = options.why ? { [explainHeader]: "3" } : {};
    const { client } = opened;
    const deployment = deploymentOf(opened, options);
    const servingUri = deployment ? await currentServingUri(client, deployment) : given(options, client);
    const reply = await recommendItems(client, input, servingUri, headers);
    print(options, reply, () => {
      if (reply.results.length === 0) return `There are no recommendations for ${userId}.\n`;
      const rows = reply.results.map(({ item, why }, at) => [
        String(at + 1),
        item.itemId,
        ...attributes.map((name) => cell(item.attributes[name])),
        ...(options.why ? [reasonsOf(why)] : []),
      ]);
      if (reply.results.length < options.limit)
        note(`The service returned only ${formatCount(reply.results.length, "item")}.`);
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

const bases: Record<NonNullable<Recommendation["basis"]>["from"], (userId: string) => string> = {
  events: (userId) => `Based on the events of ${userId}.`,
  training: (userId) => `Based on what the model learned about ${userId} before the events were deleted.`,
  attributes: (userId) => `Based on the attributes of ${userId}, because the model knows no events.`,
  popularity: (userId) => `These are popular items, because nothing is known about ${userId}.`,
};

function basisOf(basis: Recommendation["basis"], userId: string): string {
  if (!basis) return "The service does not explain its recommendations.";
  const text = bases[basis.from](userId);
  return basis.rankedBy ? `${text} Model ${basis.rankedBy} reordered the items.` : text;
}

/**
 * Returns the address from `--serving-uri`. Throws if it is not an address of the service, because the credentials must
 * not be sent anywhere else.
 */
function given({ servingUri }: RecommendOptions, client: Client): string | undefined {
  if (servingUri === undefined || client.serving.addressOf(servingUri)) return servingUri;
  throw new Error(
    `--serving-uri ${servingUri} is not at ${new URL(client.baseUrl).origin}, and the credentials are only sent there. ` +
      "If the address belongs to another service, pass that service with --service.",
  );
}

/**
 * Returns the stack's deployment that the options select. Returns undefined without `--stack` or with `--serving-uri`.
 */
function deploymentOf({ stack, resolveId }: OpenService, options: RecommendOptions) {
  if (options.servingUri !== undefined) return undefined;
  if (!stack) {
    if (options.deployment !== undefined)
      throw new Error("--deployment selects a deployment of a stack. Pass --stack too.");
    return undefined;
  }
  const id = resolveId("Deployment", options.deployment, "--deployment");
  const found = stack.resources.find((one) => one.type === "Deployment" && one.id === id);
  if (!found)
    throw new Error(`--deployment ${options.deployment}: stack ${stack.name} has no such deployment.`);
  const { servingUri, deploymentJobId } = found.outputs as { servingUri?: string; deploymentJobId?: string };
  return { projectId: found.id, servingUri, deploymentJobId };
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(cell).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
