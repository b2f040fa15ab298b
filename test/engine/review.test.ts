import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { Host } from "../cli/comment/hosts";
import { command } from "../service/process";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engineWorkspace } from "./workspace";

const program = (eventShards: number) => `
import * as recommender from "pulumi-recommender";
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: ${eventShards} });
const actions = new recommender.EventRecords("actions", {
  eventDatasetId: events.id,
  source: Array.from({ length: 240 }, (_, at) => ({
    userId: "u" + (at % 30), itemId: "i" + ((at * 7) % 24), ts: 1700000000000 + at, eventType: "purchase",
  })),
});
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("shop", {
  projectId: project.id, algorithmParameters: { dimensions: 4, epochs: 1, regularization: 0.1, alpha: 1 },
}, { dependsOn: [actions] });
const model = new recommender.Model("taste", { projectId: project.id, algorithmId: algorithm.id });
new recommender.Deployment("live", { projectId: project.id, generatorModelId: model.modelId, qps: 20 });
`;

const root = join(__dirname, "../..");
const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as {
  inputs: Record<string, unknown>;
  runs: { steps: { run: string; env: Record<string, string> }[] };
};
const component = readFileSync(join(root, "ci/gitlab.yml"), "utf8")
  .replaceAll("$[[ inputs.stack ]]", "test")
  .replaceAll("$[[ inputs.fail-on ]]", "replace")
  .replaceAll(/\$\[\[ inputs\.\w+ \]\]/g, ".");
const job = parseAllDocuments(component)[1]?.toJS()["recommender-review-test"] as {
  script: string[];
  variables: Record<string, string>;
  rules: [{ variables: Record<string, string> }];
};
const token = "a-very-secret-token";

describe("the pipelines of code reviews, through the real engine", () => {
  let observed: ObservedService;
  let workspace: EngineWorkspace;
  let github: Host;
  let gitlab: Host;

  beforeAll(async () => {
    observed = await ObservedService.start();
    github = await Host.start("github");
    gitlab = await Host.start("gitlab");
    workspace = await engineWorkspace(program(2), observed.environment);
    const bin = join(workspace.directory, "bin");
    mkdirSync(bin);
    // Runs the installed package, as npx does. The first arguments are --no -- recommender.
    writeFileSync(join(bin, "npx"), `#!/bin/sh\nshift 3\nexec '${process.execPath}' '${command}' "$@"\n`);
    chmodSync(join(bin, "npx"), 0o755);
    await workspace.stack.up();
  });
  afterAll(async () => {
    await workspace.dispose();
    await observed.close();
    await github.close();
    await gitlab.close();
  });

  const file = (name: string) => join(workspace.directory, name);
  const run = async (script: string, more: Record<string, string>) => {
    const kept = Object.entries(process.env).filter(([name]) => !/^(CI_|GITHUB_|GITLAB_|GH_)/.test(name));
    const { envVars } = workspace.stack.workspace;
    const env = { ...Object.fromEntries(kept), ...envVars, ...more };
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
      cwd: workspace.directory,
      env: { ...env, PATH: [file("bin"), process.env.PATH].join(delimiter) },
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        printed += text;
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    expect(printed).not.toContain(token);
    return { code, printed };
  };
  /** Runs the step of the action, with its inputs as the runner passes them. */
  const runAction = (head = "shop/infra") => {
    const repositories = { head: { repo: { full_name: head } }, base: { repo: { full_name: "shop/infra" } } };
    writeFileSync(file("event.json"), JSON.stringify({ pull_request: { number: 7, ...repositories } }));
    writeFileSync(file("outputs"), "");
    mkdirSync(file("temp"), { recursive: true });
    const [step] = action.runs.steps;
    const inputs: Record<string, string> = { stack: "test", "fail-on": "replace", token };
    const env = Object.entries(step?.env ?? {}).map(([name, value]) => [
      name,
      inputs[/^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1] ?? ""] ?? "",
    ]);
    return run(step?.run ?? "", {
      ...Object.fromEntries(env),
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: github.url,
      GITHUB_REPOSITORY: "shop/infra",
      GITHUB_EVENT_PATH: file("event.json"),
      GITHUB_OUTPUT: file("outputs"),
      GITHUB_STEP_SUMMARY: file("summary"),
      RUNNER_TEMP: file("temp"),
    });
  };
  const runJob = (source = "11") =>
    run(job.script.join("\n"), {
      ...job.variables,
      ...job.rules[0].variables,
      GITLAB_CI: "true",
      CI_API_V4_URL: gitlab.url,
      CI_PROJECT_ID: "11",
      CI_PROJECT_DIR: workspace.directory,
      CI_MERGE_REQUEST_PROJECT_ID: "11",
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source,
      CI_MERGE_REQUEST_IID: "7",
      GITLAB_COMMENT_TOKEN: token,
    });

  test("a pull request from a fork is not reviewed, and nothing is called", async () => {
    observed.calls();
    for (const skipped of [await runAction("someone/infra"), await runJob("12")]) {
      expect(skipped.code).toBe(0);
      expect(skipped.printed).toMatch(/request comes from a fork, which gets no secrets/);
    }
    expect([...github.calls, ...gitlab.calls, ...observed.calls()]).toEqual([]);
    expect(existsSync(file("temp/recommender-review.md"))).toBe(false);
  });

  test("a pull request without changes gets a comment with the quality and the time of the last training", async () => {
    const first = await runAction();
    expect(first).toMatchObject({ code: 0 });
    const [comment] = github.comments;
    expect(comment?.body).toMatch(/^### ✅ test/);
    expect(comment?.body).toMatch(
      /\| taste \| live in live \| unchanged \| \d+ s \| \d\.\d{4} \(popular items/,
    );
    expect(comment?.body).not.toContain("This change trains");
    expect(readFileSync(file("summary"), "utf8")).toContain(comment?.body.trim());
    expect((await runJob()).code).toBe(0);
    expect(gitlab.comments.map(({ body }) => body.trim())).toEqual([comment?.body.trim()]);
  });

  test("a change that loses data fails, and the same comment shows its consequences", async () => {
    await workspace.setProgram(program(3));
    const changed = await runAction();
    expect(changed.code).toBe(2);
    expect(github.comments).toHaveLength(1);
    const [{ body } = { body: "" }] = github.comments;
    expect(body).toMatch(/^### ❌ test/);
    expect(body).toContain("It is replaced and its events are lost. Load them again.");
    expect(body).toMatch(/\| taste \| live in live \| is trained again \| \d+ s \|/);
    expect(body).toMatch(/This change trains 1 model\. The last training took \d+ s in total\./);
    const [, sarif = ""] = /^sarif=(.*)$/m.exec(readFileSync(file("outputs"), "utf8")) ?? [];
    const { runs } = JSON.parse(readFileSync(sarif, "utf8"));
    expect(runs[0].results.length).toBeGreaterThan(0);
    expect((await runJob()).code).toBe(2);
    expect(gitlab.comments.map((note) => note.body.trim())).toEqual([body.trim()]);
  });

  test("a review that fails posts nothing and keeps the earlier comment", async () => {
    const [{ body } = { body: "" }] = github.comments;
    await workspace.setProgram("throw new Error('broken program');");
    const failed = await runAction();
    expect(failed.code).toBe(1);
    expect(failed.printed).toContain("broken program");
    expect(github.comments.map((comment) => comment.body)).toEqual([body]);
    expect(readFileSync(file("outputs"), "utf8")).toBe("");
  });
});
