import { Host } from "../cli/comment/hosts";
import { GitHubActions, type GitHubEvent } from "./github-actions";
import { type Expected, expectEnds, type Jobs, type PipelineShop, type Start } from "./pipeline";
import { exampleFile, ShopRepository, type StackName } from "./shop-repository";

const workflows = ["review.yml", "up-and-release.yml", "promote.yml", "retrain.yml"];

/** Stacks of the workflows that run for several stacks. */
const matrices: Readonly<Record<string, string>> = { "review.yml": "dev, prod", "retrain.yml": "dev" };

/** Shop whose repository is on GitHub, with the example workflows and one environment per stack and purpose. */
export class GitHubShop implements PipelineShop {
  readonly committer = "github-actions[bot]";

  private constructor(
    readonly repository: ShopRepository,
    readonly host: Host,
    private readonly github: GitHubActions,
  ) {}

  static async make(stacks: readonly StackName[]): Promise<GitHubShop> {
    const files = workflows.map(async (name) => {
      const text = await exampleFile(`examples/ci/github/${name}`);
      const stacksOf = matrices[name] ?? "";
      return [`.github/workflows/${name}`, text.replace(/stack: \[.*\]/, `stack: [${stacksOf}]`)];
    });
    const repository = await ShopRepository.make(Object.fromEntries(await Promise.all(files)), stacks);
    const host = await Host.start("github");
    // Like the token of a workflow.
    host.canReadAccount = false;
    const github = new GitHubActions(repository, host);
    github.protectedEnvironments.add("prod");
    for (const stack of stacks) {
      const reader = await repository.services[stack].environmentOf("reviews", "read", "recommend");
      github.environments[stack] = repository.secrets;
      github.environments[`${stack}-retrain`] = repository.secrets;
      github.environments[`${stack}-review`] = { ...repository.secrets, ...reader };
    }
    return new GitHubShop(repository, host, github);
  }

  async run(start: Start, expected: Expected): Promise<Jobs> {
    const [workflow, event] = workflowOf(start);
    const ended = Object.values(await this.github.run(workflow, event)).flatMap(
      ({ name, conclusion, printed, summary: report, uploads: findings }) =>
        conclusion === "skipped"
          ? []
          : [[nameOf(name, workflow), { conclusion, printed, report, findings }] as const],
    );
    const secrets = [this.github.token, this.repository.secrets.PULUMI_CONFIG_PASSPHRASE ?? ""];
    return expectEnds(Object.fromEntries(ended), expected, secrets);
  }

  approve(login: string): void {
    this.host.approvals.push({ state: "approved", environments: [{ name: "prod" }], user: { login } });
  }

  killRunning(): void {
    this.github.shell.kill();
  }

  async dispose(): Promise<void> {
    await this.repository.dispose();
    await this.host.close();
  }
}

function workflowOf(start: Start): [workflow: string, event: GitHubEvent] {
  if (start.on === "push") return ["up-and-release.yml", { name: "push" }];
  if (start.on === "morning") return ["review.yml", { name: "schedule" }];
  if (start.on === "night") return ["retrain.yml", { name: "schedule" }];
  if (start.on === "pull request") {
    const head = start.isFork ? "someone/infra" : "shop/infra";
    return ["review.yml", { name: "pull_request", branch: start.branch, head }];
  }
  const { from, to, unlock = false } = start;
  return ["promote.yml", { name: "workflow_dispatch", inputs: { from, to, unlock } }];
}

/** Names a job as on every host: `review (dev)` is `review dev`. */
function nameOf(job: string, workflow: string): string {
  const name = job.replace(/[()]/g, "");
  return name === "review" && workflow === "promote.yml" ? "review promotion" : name;
}
