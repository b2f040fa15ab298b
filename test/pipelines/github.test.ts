import type { Host } from "../cli/comment/hosts";
import type { GitHubEvent } from "./github-actions";
import { GitHubShop } from "./github-shop";
import type { ShopRepository } from "./shop-repository";

describe("the example workflows for GitHub, in a new repository", () => {
  let at: GitHubShop;
  let shop: ShopRepository;
  let host: Host;
  beforeAll(async () => {
    at = await GitHubShop.make(["review.yml", "up-and-release.yml", "promote.yml"], ["dev", "prod"]);
    ({ repository: shop, host } = at);
    at.github.protectedEnvironments.add("prod");
  });
  afterAll(() => at.dispose());

  const run: GitHubShop["run"] = (...args) => at.run(...args);
  const pullRequest: GitHubEvent = { name: "pull_request", branch: "change" };
  const promotion: GitHubEvent = { name: "workflow_dispatch", inputs: { from: "dev", to: "prod" } };
  const approve = (login: string) =>
    host.approvals.push({ state: "approved", environments: [{ name: "prod" }], user: { login } });

  test("the first push creates dev and commits its release", async () => {
    await run("up-and-release.yml", { name: "push" }, { "up-and-release": "success" });
    expect(shop.submissions("dev")).toEqual(["POST /submit-training-job", "POST /submit-deployment-job"]);
    expect(await shop.log()).toEqual(["github-actions[bot]: Release dev", "ada: A shop"]);
    expect(await shop.releases("dev")).toMatchObject([{ id: "dev-1", status: "done", author: "ada" }]);
  });

  test("a push that changes nothing trains nothing and commits nothing", async () => {
    const jobs = await run("up-and-release.yml", { name: "push" }, { "up-and-release": "success" });
    expect(jobs["up-and-release"]?.printed).toContain("Release dev-1 still matches dev");
    expect(shop.submissions("dev")).toEqual([]);
    expect(await shop.log()).toHaveLength(2);
  });

  test("a pull request from a fork gets a summary and no comment, and reaches no service", async () => {
    await shop.push("From a fork", "change");
    await shop.pull();
    for (const stack of ["dev", "prod"] as const) shop.services[stack].calls();
    const fork: GitHubEvent = { ...pullRequest, head: "someone/infra" };
    const jobs = await run("review.yml", fork, { "review (dev)": "success", "review (prod)": "success" });
    expect(jobs["review (dev)"]).toMatchObject({
      summary: "dev: The pull request comes from a fork, which gets no secrets, so the review is skipped.\n",
      uploads: [],
    });
    expect([...host.calls, ...shop.services.dev.calls(), ...shop.services.prod.calls()]).toEqual([]);
  });

  test("a promotion waits for an approval, and a closed gate stops it before its first change", async () => {
    shop.submissions("prod");
    const waiting = await run("promote.yml", promotion, { review: "success", promote: "waiting" });
    expect(waiting.review?.summary).toMatch(/\*\*approvals\*\* closed/);
    // The environment lets ada approve, but the policy asks for grace.
    approve("ada");
    const refused = await run("promote.yml", promotion, { review: "success", promote: "failure" });
    expect(refused.promote?.summary).toMatch(/\*\*approvals\*\* closed/);
    expect(shop.submissions("prod")).toEqual([]);
    expect(await shop.releases("prod")).toEqual([]);
  });
});
