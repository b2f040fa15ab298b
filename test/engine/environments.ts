import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import type { Review } from "../../cli/promote/review";
import type { History, Release } from "../../cli/release/history";
import { routes } from "../../contract";
import { command, type Ended, ended } from "../service/process";
import { readKeptState } from "./kept-state";
import { ObservedService } from "./observed-service";
import { type EngineWorkspace, engine, engineWorkspace, installPlugin, secretsProvider } from "./workspace";

const run = promisify(execFile);

/** Program of all environments, in JavaScript because it runs often. The configuration of each stack has the check. */
const program = (trigger: string) => `
const pulumi = require("@pulumi/pulumi");
const recommender = require("pulumi-recommender");
const users = new recommender.UserDataset("users", { numShards: 1 });
const items = new recommender.ItemDataset("items", { numShards: 1 });
const events = new recommender.EventDataset("events", { numShards: 1 });
const history = new recommender.EventRecords("history", { eventDatasetId: events.id, source: "events.csv" });
const project = new recommender.Project("shop", {
  userDatasetId: users.id, itemDatasetId: items.id, eventDatasetId: events.id, targetEventType: "purchase",
});
const algorithm = new recommender.Algorithm("g1", {
  projectId: project.id, algorithmParameters: new pulumi.Config().getObject("parameters") ?? { dimensions: 8 },
});
const model = new recommender.Model("weekly", {
  projectId: project.id, algorithmId: algorithm.id, triggers: [history.contentHash, "${trigger}", new pulumi.Config().get("retrainedAt") ?? ""],
}, { retainOnDelete: true });
new recommender.Deployment("live", {
  projectId: project.id, generatorModelId: model.modelId, qps: 100,
  check: { userIds: ["u1"], minResults: new pulumi.Config().getNumber("minResults") ?? 3 },
});
`;

/** Purchases of 30 users: eight items each, from the 12 items of the user's taste. */
export function tasteRows({ tastes = 2, perTaste = 12 } = {}): string[] {
  return Array.from({ length: 240 }, (_, at) => {
    const [u, k] = [at % 30, Math.floor(at / 30)];
    return `u${u},i${(u % tastes) + tastes * ((u * 5 + k) % perTaste)},2026-01-0${k + 1},purchase`;
  });
}

/** Environments, each a stack with a separate service. */
export type Name = "dev" | "staging" | "prod";

/** Program in a separate repository with up to three stacks, of which dev exists. */
export class Environments {
  readonly services = {} as Record<Name, ObservedService>;
  readonly stacks = {} as Record<Name, Stack>;

  private constructor(readonly workspace: EngineWorkspace) {}

  /**
   * @param names which environments to create; must include dev
   * @param rows rows of the uploaded file, without their header
   */
  static async make(
    names: readonly Name[] = ["dev", "staging", "prod"],
    rows = tasteRows(),
  ): Promise<Environments> {
    const made = new Environments(await engineWorkspace(""));
    const { directory } = made.workspace;
    await installPlugin(directory);
    await made.setProgram("w1");
    for (const name of names) await made.#addStack(name);
    await writeFile(join(directory, "events.csv"), `userId,itemId,ts,eventType\n${rows.join("\n")}\n`);
    await writeFile(join(directory, ".gitignore"), "node_modules\nhome\nstate\nPulumi.test.yaml\n");
    await made.git("init", "--quiet");
    await made.commit("first");
    await made.stacks.dev.up();
    return made;
  }

  async dispose(): Promise<void> {
    await this.workspace.dispose();
    await Promise.all(Object.values(this.services).map((service) => service.close()));
  }

  setProgram(trigger: string): Promise<void> {
    return writeFile(join(this.workspace.directory, "index.js"), program(trigger));
  }

  git(...args: string[]): Promise<{ stdout: string }> {
    const who = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    return run("git", [...who, ...args], { cwd: this.workspace.directory });
  }

  async commit(message: string): Promise<void> {
    await this.git("add", "--all");
    await this.git("commit", "--quiet", "--message", message);
  }

  /** Starts the command. */
  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, [command, ...args], {
      cwd: this.workspace.directory,
      env: { ...process.env, ...this.workspace.stack.workspace.envVars },
      // A separate process group, so the command can be killed with its children.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Runs the command until it exits. */
  recommender(...args: string[]): Promise<Ended> {
    return ended(this.start(...args));
  }

  /** Runs a promotion and returns its report. */
  async promote(...args: string[]): Promise<Review & Pick<Ended, "code" | "err">> {
    const { code, out, err } = await this.recommender("promote", ...args, "--json");
    if (code === 1) throw new Error(err);
    return { code, err, ...(JSON.parse(out) as Review) };
  }

  async released(name: Name): Promise<Release[]> {
    const text = await readFile(join(this.workspace.directory, "releases", `${name}.json`), "utf8");
    return (JSON.parse(text) as History).releases;
  }

  /** Returns the jobs that were submitted since the last call. */
  submissions(name: Name): string[] {
    return this.services[name].calls().filter((call) => call.startsWith("POST /submit-"));
  }

  /** Returns the resources in the state of a stack. */
  async state(name: Name) {
    const { deployment } = await this.stacks[name].exportStack();
    const { resources } = deployment as {
      resources: { type: string; id: string; delete?: boolean; outputs: Record<string, string> }[];
    };
    const of = (type: string) =>
      resources.find((resource) => resource.type.endsWith(`:${type}`) && !resource.delete);
    return { model: of("Model")?.id, deployment: of("Deployment")?.outputs ?? {} };
  }

  /** Returns the models that the job in the state has deployed. */
  async deployedBy(name: Name): Promise<string | null | undefined> {
    const { deployment } = await this.state(name);
    const { projectId = "", deploymentJobId: jobId = "" } = deployment;
    return (await this.services[name].call(routes.getJob, { projectId, jobId })).jobData?.generatorModelId;
  }

  async #addStack(name: Name): Promise<void> {
    const { directory: workDir, stack: first } = this.workspace;
    // Long enough to be interrupted in prod.
    this.services[name] = await ObservedService.start({
      faults: true,
      ...(name === "prod" && { jobDelayMs: 5000 }),
    });
    const { envVars } = first.workspace;
    const stack = await LocalWorkspace.createStack(
      { stackName: name, workDir },
      { envVars, secretsProvider, pulumiCommand: await engine() },
    );
    readKeptState(stack, join(workDir, "state"));
    this.stacks[name] = stack;
    const config = Object.entries(this.services[name].config).map(([key, value]) => [
      key,
      { value, secret: /Key|Secret/.test(key) },
    ]);
    // Promotions switch between the bindings, and the rollback starts from a state of the plugin.
    const binding = { value: name === "staging" ? "plugin" : "dynamic" };
    await this.stacks[name].setAllConfig({ ...Object.fromEntries(config), "recommender:binding": binding });
  }
}
