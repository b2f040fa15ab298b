import { firstOf } from "../../format";
import { ofService, serviceUrl } from "../../parts/as-code";
import { command, curl, declared, type Texts, visible, word } from "../../parts/code";

/** The questions that there are. */
export const kinds = {
  distribution: "How is the usage of a value spread?",
  list: "Who uses a value?",
  groups: "Which groups of users are there?",
} as const;

/** A question as the form has it. */
export interface Question {
  readonly projectId: string;
  readonly modelId: string;
  readonly kind: keyof typeof kinds;
  readonly attribute: string;
  readonly value: string;
  /** The least share of usage, as it was typed. */
  readonly least: string;
  readonly minUsers: string;
}

/** The operation that asks it, which is the scope too. */
export const pathOf = ({ kind }: Pick<Question, "kind">): string =>
  kind === "groups" ? "/submit-clustering-job" : "/submit-querying-job";

function fieldsOf({ kind, attribute, value, least, minUsers }: Question) {
  if (kind === "groups") return { parameters: { minUserNum: Math.max(1, Math.round(Number(minUsers))) } };
  if (kind === "distribution") return { queryType: "user_distribution", queries: [{ attribute, value }] };
  const bound = least.trim() === "" ? {} : { lowerBound: Number(least) };
  return { queryType: "user_list", queries: [{ conditions: [{ attribute, value, ...bound }] }] };
}

const nameOf = ({ kind, attribute, value }: Question): string =>
  kind === "groups"
    ? "Groups of users"
    : firstOf(
        `${kind === "list" ? "Who uses" : "Usage of"} ${attribute} = ${value}`.replace(/\p{Cc}+/gu, " "),
        100,
      );

/** The question as the service takes it. */
export function wireOf(question: Question): object {
  const { projectId, modelId } = question;
  const names = { project_id: projectId, model_id: modelId, name: nameOf(question) };
  return { ...names, ...(snaked(fieldsOf(question)) as object) };
}

function snaked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snaked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snaked(one),
    ]),
  );
}

const bound = (least: string) => (least.trim() === "" ? "" : `:${Number(least)}..`);

/** Whether the command reads a condition as it is meant: an attribute ends at the first `=`, and bounds come last. */
const isCondition = ({ attribute, value, least }: Question): boolean =>
  !attribute.includes("=") && !/:[-\d.]*\.\.[-\d.]*$/.test(value) && /^(:[\d.]+)?$/.test(bound(least));

function byFile(question: Question): string {
  const { projectId: project, modelId: model } = question;
  const of = { ...ofService(project), project, model };
  const queries = word(visible(JSON.stringify(fieldsOf(question).queries)));
  return `printf '%s' ${queries} > query.json\n${command("query", { ...of, file: "query.json" })}`;
}

/** What each text does. */
export const asksTheSame = {
  program: "Asks the same question with each run in which it or the model has changed.",
  CLI: "Asks the same question and waits for the answer.",
  curl: "Submits the job that answers the same question.",
};

/** What asks the same. */
export function questionCode(question: Question): Texts {
  const { projectId, modelId, kind, attribute, value, least, minUsers } = question;
  const type = kind === "groups" ? "UserClustering" : "UserQuery";
  const of = { ...ofService(projectId), project: projectId, model: modelId };
  const pair = `${attribute}=${value}`;
  const cli = {
    // The command has no other way to name an attribute.
    distribution: () => (attribute.includes("=") ? undefined : command("distribution", of, pair)),
    list: () =>
      isCondition(question) ? command("query", { ...of, where: pair + bound(least) }) : byFile(question),
    groups: () => command("cluster", { ...of, "min-users": minUsers }),
  };
  const text = cli[kind]();
  return {
    ...declared([
      {
        ...{ type, component: `${type}Result`, name: nameOf(question) },
        fields: { projectId, modelId, ...fieldsOf(question) },
      },
    ]),
    ...(text !== undefined && { CLI: text }),
    curl: curl(serviceUrl(), pathOf(question), wireOf(question)),
  };
}

/** The question that a job was submitted with; undefined for one that the form cannot ask. */
export function questionOf(projectId: string, data: Readonly<Record<string, unknown>>): Question | undefined {
  const empty = {
    projectId,
    modelId: String(data.modelId),
    attribute: "",
    value: "",
    least: "",
    minUsers: "1",
  };
  const parameters = data.parameters as { minUserNum?: number } | undefined;
  if (parameters) return { ...empty, kind: "groups", minUsers: String(parameters.minUserNum ?? 1) };
  const queries = (data.queries ?? []) as {
    attribute?: string;
    value?: unknown;
    conditions?: { attribute: string; value: unknown; lowerBound?: number; upperBound?: number }[];
  }[];
  const [query] = queries;
  if (!query || queries.length > 1) return undefined;
  if (!query.conditions)
    return { ...empty, kind: "distribution", attribute: query.attribute ?? "", value: String(query.value) };
  const [condition] = query.conditions;
  if (!condition || query.conditions.length > 1 || condition.upperBound !== undefined) return undefined;
  const { attribute, value, lowerBound } = condition;
  return { ...empty, kind: "list", attribute, value: String(value), least: String(lowerBound ?? "") };
}
