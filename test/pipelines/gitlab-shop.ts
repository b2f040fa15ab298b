import { Host } from "../cli/comment/hosts";
import { GitLabCi, type GitLabEvent } from "./gitlab-ci";
import type { Variables } from "./gitlab-yaml";
import { type Expected, expectEnds, type Jobs, type PipelineShop, type Start } from "./pipeline";
import { exampleFile, ShopRepository, type StackName } from "./shop-repository";

/** Shop whose repository is on GitLab, with the example pipelines and one environment per stack and purpose. */
export class GitLabShop implements PipelineShop {
  readonly committer = "GitLab CI";

  private constructor(
    readonly repository: ShopRepository,
    readonly host: Host,
    private readonly gitlab: GitLabCi,
  ) {}

  static async make(stacks: readonly StackName[]): Promise<GitLabShop> {
    const example = await exampleFile("examples/ci/gitlab-ci.yml");
    const ofStaging = /^ {2}- local: .*\n {4}inputs: \{ stack: staging \}\n/m;
    const files = {
      ".gitlab-ci.yml": example.replace(ofStaging, ""),
      ".gitlab/recommender-review.yml": await exampleFile("ci/gitlab.yml"),
    };
    const repository = await ShopRepository.make(files, stacks);
    const host = await Host.start("gitlab");
    const gitlab = new GitLabCi(repository, host);
    gitlab.protectedEnvironments.add("prod");
    for (const stack of stacks) {
      const { RECOMMENDER_API_KEY, RECOMMENDER_CLIENT_ID, RECOMMENDER_CLIENT_SECRET } =
        await repository.services[stack].environmentOf("reviews", "read", "recommend");
      const reader = { RECOMMENDER_API_KEY, RECOMMENDER_CLIENT_ID, RECOMMENDER_CLIENT_SECRET } as Variables;
      for (const purpose of ["", "-promotion", "-retrain"])
        gitlab.scopes[`${stack}${purpose}`] = repository.secrets;
      gitlab.scopes[`${stack}-review`] = { ...repository.secrets, ...reader };
    }
    return new GitLabShop(repository, host, gitlab);
  }

  async run(start: Start, expected: Expected): Promise<Jobs> {
    const ended = Object.entries(await this.gitlab.run(eventOf(start))).flatMap(
      ([name, { conclusion, printed, artifacts }]) => {
        if (conclusion === "skipped") return [];
        const findings = Object.entries(artifacts).flatMap(([path, text]) =>
          path.endsWith(".sarif") ? [text] : [],
        );
        return [[nameOf(name), { conclusion, printed, report: printed, findings }] as const];
      },
    );
    const secrets = [this.gitlab.token, this.repository.secrets.PULUMI_CONFIG_PASSPHRASE ?? ""];
    return expectEnds(Object.fromEntries(ended), expected, secrets);
  }

  approve(username: string): void {
    this.host.approvals.push({ status: "approved", user: { username } });
  }

  killRunning(): void {
    this.gitlab.shell.kill();
  }

  async dispose(): Promise<void> {
    await this.repository.dispose();
    await this.host.close();
  }
}

function eventOf(start: Start): GitLabEvent {
  if (start.on === "push") return { source: "push" };
  if (start.on === "morning") return { source: "schedule", variables: { RECOMMENDER_JOB: "review" } };
  if (start.on === "night")
    return { source: "schedule", variables: { RECOMMENDER_JOB: "retrain", STACK: "dev" } };
  if (start.on === "pull request") {
    const fork = start.isFork ? { fork: "12" } : {};
    return { source: "merge_request_event", branch: start.branch, ...fork };
  }
  const { from: FROM, to: TO, unlock } = start;
  return {
    source: "web",
    variables: { RECOMMENDER_JOB: "promote", FROM, TO, ...(unlock && { UNLOCK: "true" }) },
  };
}

/** Names a job as on every host: `recommender-review-dev` is `review dev`. */
function nameOf(job: string): string {
  if (job === "review-promotion") return "review promotion";
  return job.replace(/^recommender-review-/, "review ").replace(/^retrain$/, "retrain dev");
}
