import { prefixOf } from "../../format";
import { serviceOptions, serviceUrl } from "../../parts/as-code";
import {
  type CodeSamples,
  command,
  curl,
  declarations,
  escapeInvisible,
  shellWord,
  snakeCase,
} from "../../parts/code";

/** The kinds of questions. */
export const questionKinds = {
  distribution: "How is the usage of a value distributed?",
  list: "Who uses a value?",
  groups: "Which groups of users are there?",
} as const;

/** A question as entered in the form. */
export interface Question {
  readonly projectId: string;
  readonly modelId: string;
  readonly kind: keyof typeof questionKinds;
  readonly attribute: string;
  readonly value: string;
  /** The minimum share of usage, as typed. */
  readonly minShare: string;
  readonly minUsers: string;
}

/** Returns the path of the operation that submits a question. The path is also the required scope. */
export const submitPathOf = ({ kind }: Pick<Question, "kind">): string =>
  kind === "groups" ? "/submit-clustering-job" : "/submit-querying-job";

function fieldsOf({ kind, attribute, value, minShare, minUsers }: Question) {
  if (kind === "groups") return { parameters: { minUserNum: Math.max(1, Math.round(Number(minUsers))) } };
  if (kind === "distribution") return { queryType: "user_distribution", queries: [{ attribute, value }] };
  const bound = minShare.trim() === "" ? {} : { lowerBound: Number(minShare) };
  return { queryType: "user_list", queries: [{ conditions: [{ attribute, value, ...bound }] }] };
}

const nameOf = ({ kind, attribute, value }: Question): string =>
  kind === "groups"
    ? "Groups of users"
    : prefixOf(
        `${kind === "list" ? "Who uses" : "Usage of"} ${attribute} = ${value}`.replace(/\p{Cc}+/gu, " "),
        100,
      );

/** Returns the request body that submits a question. */
export function requestBodyOf(question: Question): object {
  const { projectId, modelId } = question;
  const names = { project_id: projectId, model_id: modelId, name: nameOf(question) };
  return { ...names, ...(withSnakeCaseKeys(fieldsOf(question)) as object) };
}

function withSnakeCaseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCaseKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [snakeCase(key), withSnakeCaseKeys(one)]),
  );
}

const bound = (minShare: string) => (minShare.trim() === "" ? "" : `:${Number(minShare)}..`);

/**
 * Whether `--where` of `recommender query` can express a condition. The option splits at the first `=`, and reads a
 * final `:MIN..MAX` as bounds.
 */
const isCondition = ({ attribute, value, minShare }: Question): boolean =>
  !attribute.includes("=") && !/:[-\d.]*\.\.[-\d.]*$/.test(value) && /^(:[\d.]+)?$/.test(bound(minShare));

function queryFromFile(question: Question): string {
  const { projectId: project, modelId: model } = question;
  const of = { ...serviceOptions(project), project, model };
  const queries = shellWord(escapeInvisible(JSON.stringify(fieldsOf(question).queries)));
  return `printf '%s' ${queries} > query.json\n${command("query", { ...of, file: "query.json" })}`;
}

/** Notes on what each code sample does. */
export const codeNotes = {
  program: "Asks the same question, and again in each run in which the question or the model changed.",
  CLI: "Asks the same question and waits for the answer.",
  curl: "Submits a job for the same question.",
};

/** Returns code that asks the same question. */
export function questionCode(question: Question): CodeSamples {
  const { projectId, modelId, kind, attribute, value, minShare, minUsers } = question;
  const type = kind === "groups" ? "UserClustering" : "UserQuery";
  const of = { ...serviceOptions(projectId), project: projectId, model: modelId };
  const pair = `${attribute}=${value}`;
  const cli = {
    // `recommender distribution` cannot express an attribute that contains `=`.
    distribution: () => (attribute.includes("=") ? undefined : command("distribution", of, pair)),
    list: () =>
      isCondition(question)
        ? command("query", { ...of, where: pair + bound(minShare) })
        : queryFromFile(question),
    groups: () => command("cluster", { ...of, "min-users": minUsers }),
  };
  const text = cli[kind]();
  return {
    ...declarations([
      {
        type,
        component: `${type}Result`,
        name: nameOf(question),
        fields: { projectId, modelId, ...fieldsOf(question) },
      },
    ]),
    ...(text !== undefined && { CLI: text }),
    curl: curl(serviceUrl(), submitPathOf(question), requestBodyOf(question)),
  };
}

/** Returns the question that a job answers, or undefined if the form cannot express it. */
export function questionOf(projectId: string, data: Readonly<Record<string, unknown>>): Question | undefined {
  const empty = {
    projectId,
    modelId: String(data.modelId),
    attribute: "",
    value: "",
    minShare: "",
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
  return { ...empty, kind: "list", attribute, value: String(value), minShare: String(lowerBound ?? "") };
}
