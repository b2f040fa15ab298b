import { runInNewContext } from "node:vm";

/** Values that the expressions of a workflow can use, such as `github.event_name`. */
export type Contexts = Readonly<Record<string, unknown>>;

/** Whether an earlier step of a job has failed. */
interface JobStatus {
  readonly failed: boolean;
}

/** Evaluates an expression of GitHub Actions, without its `${{ }}`. `actionlint` checks the syntax of the examples. */
export function evaluate(
  expression: string,
  contexts: Contexts,
  status: JobStatus = { failed: false },
): unknown {
  const code = expression.replace(
    /'(?:[^']|'')*'|[A-Za-z_][\w-]*(?:\.[\w-]+)*(\s*\()?/g,
    (token: string, call?: string) => {
      if (token.startsWith("'")) return JSON.stringify(token.slice(1, -1).replaceAll("''", "'"));
      if (call !== undefined || ["true", "false", "null"].includes(token)) return token;
      return `at(${JSON.stringify(token)})`;
    },
  );
  return runInNewContext(code, {
    at: (path: string) => valueAt(contexts, path) ?? "",
    always: () => true,
    cancelled: () => false,
    failure: () => status.failed,
    success: () => !status.failed,
  });
}

/** Replaces the expressions in a text. */
export function interpolate(text: unknown, contexts: Contexts): string {
  return String(text).replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) =>
    String(evaluate(expression, contexts)),
  );
}

/** Replaces the expressions in all values of a map. */
export function interpolateAll(
  map: Readonly<Record<string, unknown>> | undefined,
  contexts: Contexts,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([name, value]) => [name, interpolate(value, contexts)]),
  );
}

/** Whether a step or a job with this `if` runs. Without a status function, it runs only if nothing has failed. */
export function shouldRun(condition: string | undefined, contexts: Contexts, status: JobStatus): boolean {
  if (condition === undefined) return !status.failed;
  const expression = condition.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1");
  const usesStatus = /\b(always|cancelled|failure|success)\s*\(/.test(expression);
  return Boolean(evaluate(expression, contexts, status)) && (usesStatus || !status.failed);
}

function valueAt(contexts: Contexts, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], contexts);
}
