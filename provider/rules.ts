import { undefinedIfMissing } from "../client/error-meaning";
import { isOffered } from "../client/extensions";
import { expressionsIn, type Rules, routes } from "../contract";
import { unknownKey } from "../contract/messages";
import { type RuleExpression, rules as rulesSchema } from "../contract/rules";
import { compile } from "../expressions/compile";
import { isHandling, knownBySchemas } from "../expressions/declared";
import { ExpressionError, type Node, parse } from "../expressions/parse";
import { containsUnknown } from "./lifecycle/arguments";
import type { Declaration } from "./lifecycle/definition";
import type { Schemas } from "./run/attribute-schemas";
import { isSecret } from "./run/secrecy";
import type { Session } from "./run/session";

/** Expressions to check with the attribute schemas of a project. */
interface Checked {
  /** Argument that contains the expressions. */
  readonly argument: "rules" | "check";
  readonly expressions: readonly RuleExpression[];
  readonly limits?: Rules["limitPer"];
}

/**
 * Returns an error if an expression of the rules is invalid, with the place in the rules and in the expression.
 * Attributes are checked with the attribute schemas of the project's datasets, as far as these are known.
 *
 * @param rules may be unknown, or invalid, which the schema of the arguments reports
 */
export async function rulesFault(
  rules: unknown,
  projectId: unknown,
  declaration: Declaration,
): Promise<string | undefined> {
  if (rules === undefined || containsUnknown(rules)) return undefined;
  const { data } = rulesSchema.safeParse(rules);
  if (!data) return undefined;
  const checked: Checked = { argument: "rules", expressions: expressionsIn(data), limits: data.limitPer };
  return faultOf(checked, projectId, declaration);
}

/** Returns an error if the filter of a deployment's check is invalid, like `rulesFault`. */
export async function filterFault(
  text: unknown,
  projectId: unknown,
  declaration: Declaration,
): Promise<string | undefined> {
  if (typeof text !== "string" || containsUnknown(text)) return undefined;
  return faultOf({ argument: "check", expressions: [{ path: "filterQuery", text }] }, projectId, declaration);
}

async function faultOf(
  checked: Checked,
  projectId: unknown,
  declaration: Declaration,
): Promise<string | undefined> {
  const { argument, expressions } = checked;
  const nodes = new Map<string, Node>();
  for (const { path, text } of expressions)
    try {
      nodes.set(`${argument}.${path}`, await parse(text));
    } catch (error) {
      return faultAt(`${argument}.${path}`, error, isSecret(argument));
    }
  const candidates = await schemasOf(projectId, declaration);
  const isHidden = isSecret(argument) || declaration.run.attributeSchemas.hasSecrets;
  const faults = candidates.map((schemas) => faultIn(checked, nodes, schemas, isHidden));
  return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
}

function faultIn(
  { argument, limits = [] }: Checked,
  nodes: ReadonlyMap<string, Node>,
  { items, users }: Schemas,
  isHidden: boolean,
): string | undefined {
  const known = knownBySchemas({ item: items, user: users });
  for (const [path, node] of nodes)
    try {
      compile(node, known);
    } catch (error) {
      return faultAt(path, error, isHidden);
    }
  const at = limits.findIndex(({ attribute }) => known.kindsOf("item", attribute) === undefined);
  const wrong = limits[at];
  if (!wrong) return undefined;
  const reason = isHidden ? "the attribute is unknown" : unknownKey(wrong.attribute, known.names("item"));
  return `${argument}.limitPer[${at}].attribute: ${reason}`;
}

/** @param isHidden whether the expression or an attribute schema is secret. The reason can quote a part of both. */
function faultAt(path: string, error: unknown, isHidden: boolean): string {
  if (!(error instanceof ExpressionError)) throw error;
  const reason = isHidden
    ? `at character ${error.at + 1}: the expression is invalid; the reason contains secrets`
    : error.message;
  return `${path}: ${reason}`;
}

/** Returns the attribute schemas of a project, or all that it can have. */
async function schemasOf(projectId: unknown, { run, session }: Declaration): Promise<Schemas[]> {
  const isKnown = typeof projectId === "string" && !containsUnknown(projectId);
  // The service checks expressions again, so a failed read does not stop the preview.
  const opened = isKnown ? await session().catch(() => undefined) : undefined;
  if (!isKnown || !opened) return run.attributeSchemas.candidates();
  const read = await readSchemas(projectId, opened).catch(() => undefined);
  return [read ?? { items: null, users: null }];
}

/** Reads the schemas of a project's datasets. Undefined if the service does not report them. */
async function readSchemas(projectId: string, { client }: Session): Promise<Schemas | undefined> {
  for (const route of [routes.getProject, routes.getItemDataset, routes.getUserDataset])
    if (!(await isOffered(client, route))) return undefined;
  const project = await undefinedIfMissing(client.call(routes.getProject, { projectId }));
  if (!project?.itemDatasetId || !project.userDatasetId) return undefined;
  const { itemDatasetId, userDatasetId } = project;
  const [items, users] = await Promise.all([
    client.call(routes.getItemDataset, { itemDatasetId }),
    client.call(routes.getUserDataset, { userDatasetId }),
  ]);
  const schemaIn = (schema: unknown) => (isHandling(schema) ? schema : null);
  return { items: schemaIn(items.attributeSchema), users: schemaIn(users.attributeSchema) };
}
