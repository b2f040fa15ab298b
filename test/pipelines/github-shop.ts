import { Host } from "../cli/comment/hosts";
import { GitHubActions, type GitHubEvent, type GitHubJob } from "./github-actions";
import { examplePipeline, ShopRepository, type StackName } from "./shop-repository";

/** Shop whose repository is on GitHub, with example workflows and one environment per stack and purpose. */
export class GitHubShop {
  private constructor(
    readonly repository: ShopRepository,
    readonly host: Host,
    readonly github: GitHubActions,
  ) {}

  static async make(workflows: readonly string[], stacks: readonly StackName[]): Promise<GitHubShop> {
    const files = workflows.map(async (name) => {
      const text = await examplePipeline(`github/${name}`);
      return [`.github/workflows/${name}`, text.replace(/stack: \[.*\]/, `stack: [${stacks.join(", ")}]`)];
    });
    const repository = await ShopRepository.make(Object.fromEntries(await Promise.all(files)), stacks);
    const host = await Host.start("github");
    // Like the token of a workflow.
    host.canReadAccount = false;
    const github = new GitHubActions(repository, host);
    for (const stack of stacks) {
      const reader = await repository.services[stack].environmentOf("reviews", "read", "recommend");
      github.environments[stack] = repository.secrets;
      github.environments[`${stack}-retrain`] = repository.secrets;
      github.environments[`${stack}-review`] = { ...repository.secrets, ...reader };
    }
    return new GitHubShop(repository, host, github);
  }

  /** Runs a workflow whose jobs must end as expected, and must not show secrets. */
  async run(
    workflow: string,
    event: GitHubEvent,
    expected: Readonly<Record<string, string>>,
  ): Promise<Record<string, GitHubJob>> {
    const jobs = await this.github.run(workflow, event);
    expect(Object.keys(jobs)).toEqual(Object.keys(expected));
    for (const [name, { conclusion, printed, summary }] of Object.entries(jobs)) {
      if (conclusion !== expected[name]) throw new Error(`${name} ended with ${conclusion}:\n${printed}`);
      for (const secret of [this.github.token, this.repository.secrets.PULUMI_CONFIG_PASSPHRASE])
        expect(printed + summary).not.toContain(secret);
    }
    return jobs;
  }

  async dispose(): Promise<void> {
    await this.repository.dispose();
    await this.host.close();
  }
}
