import { routes } from "../../contract";
import type { Conclusion, PipelineShop } from "./pipeline";
import { program, type ShopRepository } from "./shop-repository";

/** Reads of a job after which its training is known to be in the state, because another resource waits for it. */
const readsOfWait = 5;

/**
 * Runs the example pipelines of a host one after another, in one repository with its stacks and services.
 * @param ofFork how the reviews of a merge request from a fork end
 */
export function testPipelines(
  make: () => Promise<PipelineShop>,
  ofFork: Readonly<Record<string, Conclusion>>,
): void {
  let at: PipelineShop;
  let shop: ShopRepository;
  beforeAll(async () => {
    at = await make();
    shop = at.repository;
  });
  afterAll(() => at.dispose());

  const bodies = () => at.host.comments.map(({ body }) => body);
  const commentOn = (stack: string) => bodies().find((body) => body.includes(`-review shop/${stack} -->`));
  const renameEvents = async (name: string) => {
    const { eventDatasets } = await shop.services.dev.call(routes.listEventDatasets, {});
    const { eventDatasetId = "", attributeSchema } = eventDatasets[0] ?? {};
    await shop.services.dev.call(routes.updateEventDataset, { eventDatasetId, name, attributeSchema });
    shop.submissions("dev");
  };
  const submitted = ["POST /submit-training-job", "POST /submit-deployment-job"];

  test("the first push creates dev and commits its release", async () => {
    await at.run({ on: "push" }, { "up-and-release": "success" });
    expect(shop.submissions("dev")).toEqual(submitted);
    expect(await shop.log()).toEqual([`${at.committer}: Release dev`, "ada: A shop"]);
    expect(await shop.releases("dev")).toMatchObject([{ id: "dev-1", status: "done", author: "ada" }]);
  });

  test("a push that changes nothing trains nothing and commits nothing", async () => {
    const jobs = await at.run({ on: "push" }, { "up-and-release": "success" });
    expect(jobs["up-and-release"]?.printed).toContain("Release dev-1 still matches dev");
    expect(shop.submissions("dev")).toEqual([]);
    expect(await shop.log()).toHaveLength(2);
  });

  test("a pull request from a fork gets no comment, and reaches no service", async () => {
    await shop.pull();
    await shop.push("From a fork", "change");
    for (const stack of ["dev", "prod"] as const) shop.services[stack].calls();
    const jobs = await at.run({ on: "pull request", branch: "change", isFork: true }, ofFork);
    for (const [name, { report, findings }] of Object.entries(jobs)) {
      const stack = name.split(" ").at(-1);
      const why = "The pull request comes from a fork, which gets no secrets, so the review is skipped.";
      expect({ report, findings }).toEqual({ report: `${stack}: ${why}\n`, findings: [] });
    }
    expect([...at.host.calls, ...shop.services.dev.calls(), ...shop.services.prod.calls()]).toEqual([]);
  });

  test("a change that loses data fails the review of its stack, with one comment for each stack", async () => {
    await shop.write("index.js", program({ eventShards: 2 }));
    await shop.push("More shards", "change");
    const change = { on: "pull request", branch: "change" } as const;
    const jobs = await at.run(change, { "review dev": "failure", "review prod": "success" });
    expect(bodies()).toHaveLength(2);
    expect(commentOn("dev")).toMatch(/^### ❌ dev/);
    expect(commentOn("dev")).toContain("It is replaced and its events are lost. Load them again.");
    expect(commentOn("dev")).toContain("This change trains 1 model.");
    expect(commentOn("prod")).toMatch(/^### ❌ prod: 8 pending changes/);
    const [sarif = "{}"] = jobs["review dev"]?.findings ?? [];
    expect(JSON.parse(sarif).runs[0].results).not.toEqual([]);
  });

  test("drift edits the comment of its stack without failing, and fails the check in the morning", async () => {
    await renameEvents("by hand");
    await shop.write("index.js", program());
    await shop.push("As before", "change");
    const change = { on: "pull request", branch: "change" } as const;
    await at.run(change, { "review dev": "success", "review prod": "success" });
    expect(bodies()).toHaveLength(2);
    expect(commentOn("dev")).toMatch(/^### ⚠️ dev/);
    expect(commentOn("dev")).toMatch(/name.*events.*by hand/);
    const { length } = at.host.writes;
    await at.run({ on: "morning" }, { "review dev": "failure", "review prod": "success" });
    expect(at.host.writes).toHaveLength(length);
    await renameEvents("events");
  });

  const promotion = { on: "promotion", from: "dev", to: "prod" } as const;

  test("a promotion waits for an approval, and a closed gate stops it before its first change", async () => {
    await shop.pull();
    shop.submissions("prod");
    const waiting = await at.run(promotion, { "review promotion": "success", promote: "waiting" });
    expect(waiting["review promotion"]?.report).toMatch(/\*\*approvals\*\* closed/);
    // The environment lets ada approve, but the policy asks for grace.
    at.approve("ada");
    const refused = await at.run(promotion, { "review promotion": "success", promote: "failure" });
    expect(refused.promote?.report).toMatch(/\*\*approvals\*\* closed/);
    expect(shop.submissions("prod")).toEqual([]);
    expect(await shop.releases("prod")).toEqual([]);
  });

  test("a promotion whose machine is lost is completed by the next run, without another training", async () => {
    at.approve("grace");
    await shop.services.prod.holdJobs();
    const lost = at.run(promotion, { "review promotion": "success", promote: "killed" });
    await Promise.race([lost, shop.services.prod.nextCalls("GET /get-job", readsOfWait)]);
    at.killRunning();
    await lost;
    await shop.services.prod.releaseJobs();
    const jobs = await at.run(
      { ...promotion, unlock: true },
      { "review promotion": "success", promote: "success" },
    );
    expect(jobs.promote?.report).toContain("Promotion dev → prod: done");
    expect(shop.submissions("prod")).toEqual(submitted);
    expect((await shop.log())[0]).toBe(`${at.committer}: Promote dev to prod`);
    expect(await shop.releases("prod")).toMatchObject([
      { id: "prod-1", action: "promote", status: "done", gates: [{ gate: "order" }, { gate: "approvals" }] },
    ]);
  });

  test("a retraining at night trains once with the program that the stack runs, and only if a model is stale", async () => {
    await shop.pull();
    await shop.write("index.js", program({ trigger: "not yet in dev" }));
    await shop.push("A change that dev does not run yet");
    const retrain = async () => (await at.run({ on: "night" }, { "retrain dev": "success" }))["retrain dev"];
    await shop.addEvents("dev");
    shop.submissions("dev");
    expect((await retrain())?.report).toContain("Trained dev again as dev-2");
    expect(shop.submissions("dev")).toEqual(submitted);
    const log = await shop.log();
    expect(log[0]).toBe(`${at.committer}: Retrain dev`);
    const [released, trained] = await shop.releases("dev");
    expect(trained).toMatchObject({
      action: "retrain",
      status: "done",
      program: { commit: released?.program.commit, dirty: false },
      retraining: { because: [expect.stringContaining("more events")] },
    });
    expect((await retrain())?.report).toContain("No model of dev is stale");
    expect(shop.submissions("dev")).toEqual([]);
    expect(await shop.log()).toEqual(log);
  });
}
