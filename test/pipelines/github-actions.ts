import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import type { Host } from "../cli/comment/hosts";
import { type Contexts, evaluate, interpolate, interpolateAll, shouldRun } from "./expression";
import type { Conclusion } from "./pipeline";
import { Shell } from "./shell";
import type { ShopRepository } from "./shop-repository";

const execute = promisify(execFile);

/** Step of a workflow or of a composite action. */
interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly "working-directory"?: string;
}

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly environment?: string;
  readonly env?: Record<string, string>;
  readonly strategy?: { readonly matrix: Record<string, string[]> };
  readonly steps: Step[];
}

interface Action {
  readonly inputs: Record<string, { readonly default?: string }>;
  readonly outputs: Record<string, { readonly value: string }>;
  readonly runs: { readonly steps: Step[] };
}

/** Event that starts a workflow. */
export interface GitHubEvent {
  readonly name: "push" | "pull_request" | "schedule" | "workflow_dispatch";
  /** Branch that is checked out. */
  readonly branch?: string;
  /** Repository of the pull request. */
  readonly head?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  /** Person who started the workflow. */
  readonly actor?: string;
}

/** How a job ended. */
export interface GitHubJob {
  readonly name: string;
  readonly conclusion: Conclusion | "skipped";
  readonly printed: string;
  /** Job summary. */
  readonly summary: string;
  /** Files that were uploaded as code scanning results. */
  readonly uploads: readonly string[];
}

/** Result of a step. */
interface Outcome {
  readonly isOk: boolean;
  readonly isKilled?: boolean;
  readonly outputs: Readonly<Record<string, string>>;
}

/** State of a job while it runs. */
interface Running {
  readonly cwd: string;
  readonly temp: string;
  readonly base: Record<string, string>;
  readonly contexts: Contexts;
  readonly event: GitHubEvent;
  printed: string;
  readonly uploads: string[];
}

/**
 * Runs workflows as GitHub does: every job on a new machine, with the secrets of its environment. A job of an environment
 * with required reviewers waits until the run has an approval. Actions of other repositories are replaced; the action of
 * this package runs.
 */
export class GitHubActions {
  /** Secrets of each environment. */
  readonly environments: Record<string, Record<string, string>> = {};
  /** Environments with required reviewers. */
  readonly protectedEnvironments = new Set<string>();
  /** Token of a workflow. */
  readonly token = "a-token-that-may-write";
  readonly shell = new Shell();

  constructor(
    private readonly shop: ShopRepository,
    private readonly host: Host,
  ) {}

  /** Runs a workflow of the repository and returns its jobs. */
  async run(workflow: string, event: GitHubEvent): Promise<Record<string, GitHubJob>> {
    const text = readFileSync(join(this.shop.clone, ".github/workflows", workflow), "utf8");
    const { jobs } = parse(text) as { jobs: Record<string, Job> };
    const done: Record<string, GitHubJob> = {};
    for (const [id, job] of Object.entries(jobs)) {
      const [[variable, values] = ["", [""]]] = Object.entries(job.strategy?.matrix ?? {});
      for (const value of values) {
        const name = variable ? `${id} (${value})` : id;
        const isReady = job.needs === undefined || done[job.needs]?.conclusion === "success";
        const matrix = { [variable]: value };
        done[name] = isReady
          ? await this.#runJob(name, job, matrix, event)
          : { name, conclusion: "skipped", printed: "", summary: "", uploads: [] };
      }
    }
    return done;
  }

  async #runJob(
    name: string,
    job: Job,
    matrix: Record<string, string>,
    event: GitHubEvent,
  ): Promise<GitHubJob> {
    const { home, workspace: cwd, env } = await this.shop.newMachine();
    const temp = join(home, "temp");
    const contexts = await this.#contexts(job, matrix, event);
    const none = { name, printed: "", summary: "", uploads: [] };
    if (!shouldRun(job.if, contexts, { failed: false })) return { ...none, conclusion: "skipped" };
    const environment = interpolate(job.environment ?? "", contexts);
    if (this.protectedEnvironments.has(environment) && !this.#isApproved(environment))
      return { ...none, conclusion: "waiting" };
    const base = { ...env, ...this.#variables(temp, event, contexts), ...interpolateAll(job.env, contexts) };
    for (const file of ["summary", "env"]) writeFileSync(join(temp, file), "");
    const running: Running = { cwd, temp, base, contexts, event, printed: "", uploads: [] };
    const { failed, killed } = await this.#runSteps(job.steps, running, contexts, ["-e"]);
    const summary = readFileSync(join(temp, "summary"), "utf8");
    const { printed, uploads } = running;
    const conclusion = killed ? "killed" : failed ? "failure" : "success";
    return { name, conclusion, printed, summary, uploads };
  }

  /** Runs steps in order. After a failure, only steps with a matching `if` run. After a kill, the machine is lost. */
  async #runSteps(
    list: readonly Step[],
    running: Running,
    contexts: Contexts,
    flags: readonly string[],
  ): Promise<{ failed: boolean; killed: boolean; steps: Record<string, Pick<Outcome, "outputs">> }> {
    const steps: Record<string, Pick<Outcome, "outputs">> = {};
    let failed = false;
    for (const step of list) {
      const now = { ...contexts, steps };
      if (!shouldRun(step.if, now, { failed })) continue;
      const { isOk, isKilled, outputs } = step.uses
        ? await this.#use(step.uses, step, running, now)
        : await this.#runStep(step, running, now, flags);
      if (isKilled) return { failed: true, killed: true, steps };
      if (step.id) steps[step.id] = { outputs };
      failed ||= !isOk;
    }
    return { failed, killed: false, steps };
  }

  async #runStep(
    step: Step,
    running: Running,
    contexts: Contexts,
    flags: readonly string[],
  ): Promise<Outcome> {
    const { temp, base } = running;
    const cwd = join(running.cwd, interpolate(step["working-directory"] ?? ".", contexts));
    writeFileSync(join(temp, "output"), "");
    const env = {
      ...base,
      ...keyValues(readFileSync(join(temp, "env"), "utf8")),
      ...interpolateAll(step.env, contexts),
    };
    const script = interpolate(step.run, contexts);
    const { code, printed } = await this.shell.run(script, { cwd, env, flags });
    running.printed += printed;
    return {
      isOk: code === 0,
      isKilled: code === null,
      outputs: keyValues(readFileSync(join(temp, "output"), "utf8")),
    };
  }

  async #use(uses: string, step: Step, running: Running, contexts: Contexts): Promise<Outcome> {
    const inputs = interpolateAll(step.with, contexts);
    const nothing = { isOk: true, outputs: {} };
    if (uses.startsWith("./")) return this.#useLocal(join(running.cwd, uses), inputs, running, contexts);
    if (uses.startsWith("actions/checkout@")) await this.#checkOut(running, inputs);
    else if (uses.startsWith("github/codeql-action/upload-sarif@"))
      running.uploads.push(readFileSync(inputs.sarif_file ?? "", "utf8"));
    else if (!/^(actions\/setup-node|pulumi\/actions)@/.test(uses))
      throw new Error(`no stand-in for ${uses}`);
    return nothing;
  }

  /** Runs the steps of a composite action in the checked-out directory. */
  async #useLocal(
    directory: string,
    given: Record<string, string>,
    running: Running,
    outer: Contexts,
  ): Promise<Outcome> {
    const action = parse(readFileSync(join(directory, "action.yml"), "utf8")) as Action;
    const defaults = Object.entries(action.inputs).map(([name, input]) => [
      name,
      interpolate(input.default ?? "", outer),
    ]);
    const contexts = { github: outer.github, inputs: { ...Object.fromEntries(defaults), ...given } };
    const flags = ["--noprofile", "--norc", "-eo", "pipefail"];
    const { failed, steps } = await this.#runSteps(action.runs.steps, running, contexts, flags);
    const outputs = Object.entries(action.outputs).map(([name, { value }]) => [
      name,
      interpolate(value, { steps }),
    ]);
    return { isOk: !failed, outputs: Object.fromEntries(outputs) };
  }

  async #checkOut({ cwd, event }: Running, inputs: Record<string, string>): Promise<void> {
    const depth = inputs["fetch-depth"] === "0" ? [] : ["--depth", "1"];
    const branch = inputs.ref || (event.branch ?? "main");
    const from = `file://${this.shop.origin}`;
    await execute("git", ["clone", "--quiet", ...depth, "--branch", branch, from, cwd]);
  }

  async #contexts(job: Job, matrix: Record<string, string>, event: GitHubEvent): Promise<Contexts> {
    const { head = "shop/infra", branch = "main", inputs = {} } = event;
    const repository = "shop/infra";
    const pull = {
      number: 7,
      head: { repo: { full_name: head } },
      base: { repo: { full_name: repository } },
    };
    const payload = event.name === "pull_request" ? { pull_request: pull } : { inputs };
    const isFork = head !== repository;
    const { stdout: sha } = await execute("git", ["rev-parse", branch], { cwd: this.shop.origin });
    const github = {
      event: payload,
      event_name: event.name,
      repository,
      ref_name: branch,
      sha: sha.trim(),
      token: isFork ? "a-token-that-may-only-read" : this.token,
    };
    const known = { github, inputs, matrix };
    const environment = interpolate(job.environment ?? "", known);
    return { ...known, secrets: isFork ? {} : (this.environments[environment] ?? {}) };
  }

  /** Variables that the runner sets. */
  #variables(temp: string, { name, actor = "ada" }: GitHubEvent, contexts: Contexts): Record<string, string> {
    const value = (path: string) => String(evaluate(path, contexts));
    writeFileSync(join(temp, "event.json"), JSON.stringify((contexts.github as { event: object }).event));
    return {
      GITHUB_ACTIONS: "true",
      GITHUB_ACTOR: actor,
      GITHUB_API_URL: this.host.url,
      GITHUB_ENV: join(temp, "env"),
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: join(temp, "event.json"),
      GITHUB_OUTPUT: join(temp, "output"),
      GITHUB_REF_NAME: value("github.ref_name"),
      GITHUB_REPOSITORY: value("github.repository"),
      GITHUB_RUN_ID: "1",
      GITHUB_SHA: value("github.sha"),
      GITHUB_STEP_SUMMARY: join(temp, "summary"),
      RUNNER_TEMP: temp,
    };
  }

  #isApproved(environment: string): boolean {
    return (this.host.approvals as Approval[]).some(
      ({ state, environments }) =>
        state === "approved" && environments.some(({ name }) => name === environment),
    );
  }
}

interface Approval {
  readonly state: string;
  readonly environments: readonly { readonly name: string }[];
}

/** Parses a file of lines such as `name=value`. */
function keyValues(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.includes("="));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}
