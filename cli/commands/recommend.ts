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
  readonly filter?: string;
  readonly exclude?: readonly string[];
  readonly include?: readonly string[];
  readonly session?: readonly string[];
  readonly sessionType?: string;
  readonly similarTo?: readonly string[];
}

const help = `
Users without events get items by their attributes, or else popular items. If
several projects have a deployment, select one with --serving-uri, or with
--stack and --deployment.

--why shows for each item up to three of the user's items and their contribution
to the score. For users without events it shows attributes.

--filter takes an expression over the attributes of the item and the user.
--session names items of a visit that is not stored; the user can then be left
out. --similar-to recommends items that are similar to the given ones.

These options need the service in this package.

Examples:
  recommender recommend ada
  recommender recommend ada --why
  recommender recommend ada --filter 'item.in_stock && item.price < 20.0'
  recommender recommend ada --exclude kind-of-blue --session blue-train
  recommender recommend --similar-to blue-train --limit 5
  recommender recommend ada --limit 5 --attributes title,genre
  recommender recommend ada --stack dev --deployment live --json`;

/** Adds `recommender recommend`. */
export function addRecommend(program: Command): void {
  serviceCommand(program, "recommend", "Get recommendations for a user.", help)
    .argument("[user]", "id of the user")
    .option("--limit <number>", "number of items", wholeNumber(1), 10)
    .option("--attributes <names>", "comma-separated item attributes to show", commaSeparated, [])
    .option("--filter <expression>", "only items for which it is true")
    .option("--exclude <ids>", "comma-separated items to leave out", commaSeparated)
    .option("--include <ids>", "comma-separated items to choose from", commaSeparated)
    .option("--session <ids>", "comma-separated items of the current visit", commaSeparated)
    .option("--session-type <type>", "type of their events (default: the target event)")
    .option("--similar-to <ids>", "comma-separated items instead of a user", commaSeparated)
    .option("--why", "explain each item")
    .option("--deployment <name>", "deployment in the stack (default: the only one)")
    .option("--serving-uri <url>", "address of the deployment")
    .action(recommend);
}

async function recommend(userId: string | undefined, options: RecommendOptions): Promise<void> {
  checkOptions(userId, options);
  await usingService(options, async (opened) => {
    const { currentServingUri, recommendItems, similarItems } = await import("../../client/serving.js");
    const { client } = opened;
    const deployment = deploymentOf(opened, options);
    const servingUri = deployment ? await currentServingUri(client, deployment) : given(options, client);
    const restrictions = restrictionsOf(options);
    const { similarTo: itemIds } = options;
    if (itemIds) {
      const reply = await similarItems(client, { itemIds: [...itemIds], ...restrictions }, servingUri);
      const whom = `items similar to ${itemIds.join(", ")}`;
      return print(options, reply, () => resultTable(reply.results, options, `There are no ${whom}.\n`));
    }
    const headers = options.why ? { [explainHeader]: "3" } : {};
    const reply = await recommendItems(client, { userId, ...restrictions }, servingUri, headers);
    const whom = userId ?? "the visitor";
    print(options, reply, () => {
      const text = resultTable(reply.results, options, `There are no recommendations for ${whom}.\n`);
      if (options.why && reply.results.length > 0) note(basisOf(reply.basis, whom));
      return text;
    });
  });
}

function checkOptions(
  userId: string | undefined,
  { similarTo, session, sessionType, why }: RecommendOptions,
) {
  if (similarTo && userId !== undefined)
    throw new Error("--similar-to replaces the user. Leave one of them out.");
  if (similarTo && why) throw new Error("--why explains recommendations for a user, not for --similar-to.");
  if (!similarTo && userId === undefined && !session)
    throw new Error("Name a user, the items of a visit with --session, or items with --similar-to.");
  if (sessionType !== undefined && !session)
    throw new Error("--session-type is the type of the events in --session. Pass --session too.");
}

/** Returns the fields that both calls have. Leaves out fields without a value, because not every service knows them. */
function restrictionsOf({ limit, attributes, filter, exclude, include, ...options }: RecommendOptions) {
  const { session, sessionType } = options;
  const events = session?.map((itemId) => ({ itemId, ...(sessionType && { eventType: sessionType }) }));
  return {
    limit,
    attributes: [...attributes],
    ...(filter !== undefined && { filterQuery: filter }),
    ...(exclude && { excludeItemIds: [...exclude] }),
    ...(include && { includeItemIds: [...include] }),
    ...(events && { events }),
  };
}

/** Shows recommended items. */
function resultTable(
  results: readonly Result[],
  { attributes, limit, why: withReasons }: RecommendOptions,
  none: string,
): string {
  if (results.length === 0) return none;
  const rows = results.map(({ item, why }, at) => [
    String(at + 1),
    item.itemId,
    ...attributes.map((name) => cell(item.attributes[name])),
    ...(withReasons ? [reasonsOf(why)] : []),
  ]);
  if (results.length < limit) note(`The service returned only ${formatCount(results.length, "item")}.`);
  const headings = attributes.map((name) => name.toUpperCase());
  return table(["#", "ITEM", ...headings, ...(withReasons ? ["WHY"] : [])], rows);
}

type Result = Pick<Recommendation["results"][number], "item"> & Partial<Recommendation["results"][number]>;

function reasonsOf(why: Result["why"]): string {
  const { items = [], attributes = [] } = why ?? {};
  const parts = [
    ...items.map(({ itemId, adds }) => ({ name: itemId, adds })),
    ...attributes.map(({ attribute, adds }) => ({ name: attribute, adds })),
  ];
  const reasons = parts.map(({ name, adds }) => `${name} +${adds.toPrecision(2)}`);
  return [...(why?.rules ?? []).map(ruleText), ...reasons].join(", ");
}

/** Describes what a rule did to an item: `boosted × 1.5`, `pinned`. */
function ruleText({ effect, factor }: NonNullable<NonNullable<Result["why"]>["rules"]>[number]): string {
  return factor == null ? effect : `${effect} × ${factor}`;
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
    `--serving-uri ${servingUri} is not at ${new URL(client.baseUrl).origin}, so the credentials are not sent there. ` +
      "If it belongs to a deployment of a stack, use --stack. If it belongs to another service, pass that service with --service.",
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
