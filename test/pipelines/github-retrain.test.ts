import type { GitHubEvent } from "./github-actions";
import { GitHubShop } from "./github-shop";
import { program } from "./shop-repository";

describe("the example workflow that trains again every night on GitHub", () => {
  let shop: GitHubShop;
  beforeAll(async () => {
    shop = await GitHubShop.make(["up-and-release.yml", "retrain.yml"], ["dev"]);
    await shop.run("up-and-release.yml", { name: "push" }, { "up-and-release": "success" });
    shop.repository.submissions("dev");
  });
  afterAll(() => shop.dispose());

  const nightly: GitHubEvent = { name: "schedule" };
  const retrain = async () =>
    (await shop.run("retrain.yml", nightly, { "retrain (dev)": "success" }))["retrain (dev)"];

  /** Runs once more and expects that nothing changes. */
  const expectNothingDue = async () => {
    const before = await shop.repository.log();
    expect((await retrain())?.summary).toContain("No model of dev is stale");
    expect(shop.repository.submissions("dev")).toEqual([]);
    expect(await shop.repository.log()).toEqual(before);
  };

  test("changes nothing while no model is stale", expectNothingDue);

  test("trains once with the program that the stack runs, and commits the history", async () => {
    await shop.repository.pull();
    await shop.repository.write("index.js", program({ trigger: "not yet in dev" }));
    await shop.repository.push("A change that dev does not run yet");
    await shop.repository.addEvents("dev");
    const job = await retrain();
    expect(job?.summary).toContain("Trained dev again as dev-2");
    expect(shop.repository.submissions("dev")).toEqual([
      "POST /submit-training-job",
      "POST /submit-deployment-job",
    ]);
    expect((await shop.repository.log())[0]).toBe("github-actions[bot]: Retrain dev");
    const [released, trained] = await shop.repository.releases("dev");
    expect(trained).toMatchObject({
      action: "retrain",
      status: "done",
      program: { commit: released?.program.commit, dirty: false },
      retraining: { because: [expect.stringContaining("more events")] },
    });
    await expectNothingDue();
  });
});
