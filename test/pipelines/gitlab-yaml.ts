import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { parse, parseAllDocuments } from "yaml";

/** Variables of a job. */
export type Variables = Readonly<Record<string, string>>;

/** A rule of a job: when it is part of a pipeline. */
interface Rule {
  readonly if?: string;
  readonly when?: string;
  readonly variables?: Record<string, string>;
}

/** Job in the configuration, with the parts of the jobs that it extends. */
export interface JobConfiguration {
  readonly extends?: string;
  readonly rules?: readonly Rule[];
  readonly needs?: readonly string[];
  readonly variables?: Record<string, string | number>;
  readonly environment?: { readonly name: string; readonly action?: string };
  readonly before_script?: readonly string[];
  readonly script?: readonly string[];
  readonly artifacts?: { readonly paths: readonly string[] };
}

interface Include {
  readonly local: string;
  readonly inputs?: Record<string, string>;
}

/** Reads the jobs of a repository, in the order of their names in the files. Hidden jobs are left out. */
export function readJobs(directory: string): Record<string, JobConfiguration> {
  const { include = [], ...own } = parse(readFileSync(join(directory, ".gitlab-ci.yml"), "utf8")) as {
    include?: readonly Include[];
  } & Record<string, JobConfiguration>;
  const included = include.map((one) => readIncluded(directory, one));
  const all = Object.assign({}, ...included, own) as Record<string, JobConfiguration>;
  const visible = Object.entries(all).filter(([name]) => !name.startsWith("."));
  return Object.fromEntries(
    visible.map(([name, job]) => {
      const base = job.extends === undefined ? undefined : all[job.extends];
      if (job.extends !== undefined && !base)
        throw new Error(`${name} extends ${job.extends}, which is not defined`);
      return [name, { ...base, ...job, variables: { ...base?.variables, ...job.variables } }];
    }),
  );
}

/** Reads a file with a header that defines its inputs. */
function readIncluded(directory: string, { local, inputs = {} }: Include): Record<string, JobConfiguration> {
  const text = readFileSync(join(directory, local), "utf8");
  const [header] = parseAllDocuments(text).map((document) => document.toJS());
  const { spec } = header as { spec: { inputs: Record<string, { default?: string } | null> } };
  const given = text
    .slice(text.indexOf("\n---\n"))
    .replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name: string) => {
      const value = inputs[name] ?? spec.inputs[name]?.default;
      if (value === undefined) throw new Error(`${local} needs the input ${name}`);
      return value;
    });
  return parse(given) as Record<string, JobConfiguration>;
}

/** Returns the first rule whose condition is true. Undefined if the job is not part of the pipeline. */
export function matchingRule(
  { rules }: JobConfiguration,
  variables: Variables,
): Pick<Rule, "when" | "variables"> | undefined {
  return (rules ?? [{}]).find((rule) => rule.if === undefined || isTrue(rule.if, variables));
}

/** Evaluates a condition. A variable that is not set is null. */
function isTrue(condition: string, variables: Variables): boolean {
  const code = condition.replace(/"[^"]*"|\$(\w+)/g, (token: string, name?: string) =>
    name === undefined ? token : `of(${JSON.stringify(name)})`,
  );
  return Boolean(runInNewContext(code, { of: (name: string) => variables[name] ?? null }));
}

/** Replaces the variables in a value, also those whose values contain variables. */
export function expand(value: string | number, variables: Variables): string {
  return String(value).replace(/\$(\w+)/g, (_, name: string) => expand(variables[name] ?? "", variables));
}
